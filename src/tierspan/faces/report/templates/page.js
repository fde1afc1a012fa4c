"use strict";
// Terms: told on hover, focus and tap; without this script they are links to the glossary.
(() => {
  const tip = document.getElementById("tip");
  let shown = null;
  const hide = () => { tip.hidden = true; shown = null; };
  const show = (link) => {
    const place = document.getElementById(link.getAttribute("href").slice(1));
    if (!place) return;
    tip.replaceChildren(Object.assign(document.createElement("b"), { textContent: place.querySelector("dt").textContent }),
      place.querySelector("dd").textContent);
    tip.hidden = false;
    shown = link;
    const at = link.getBoundingClientRect(), most = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${scrollX + Math.max(8, Math.min(at.left, most))}px`;
    const above = at.bottom + tip.offsetHeight + 10 > innerHeight && at.top > tip.offsetHeight + 10;
    tip.style.top = `${scrollY + (above ? at.top - tip.offsetHeight - 6 : at.bottom + 6)}px`;
  };
  for (const link of document.querySelectorAll("a.term")) {
    link.setAttribute("aria-describedby", "tip");
    link.addEventListener("mouseenter", () => show(link));
    link.addEventListener("mouseleave", hide);
    link.addEventListener("focus", () => show(link));
    link.addEventListener("blur", hide);
    link.addEventListener("click", (event) => { event.preventDefault(); show(link); });
  }
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("scroll", () => { if (shown) hide(); }, { passive: true });
})();
(async () => {
  const packed = document.getElementById("library");
  if (!packed) return;
  if (typeof DecompressionStream === "undefined") { document.getElementById("too-old").hidden = false; return; }
  const bytes = Uint8Array.from(atob(packed.textContent.trim()), (c) => c.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const library = document.createElement("script");
  library.textContent = text;
  document.head.appendChild(library);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const look = (place) => {
    const grid = colour("--line"), axis = { gridcolor: grid, linecolor: grid, zerolinecolor: grid };
    const flat = { "font.color": colour("--ink"), "legend.bgcolor": "rgba(0,0,0,0)" };
    const across = place.layout.legend && place.layout.legend.orientation === "h";
    if (innerWidth < 720 && !across) Object.assign(flat, { "legend.orientation": "h", "legend.y": -0.25 });
    for (const name of ["xaxis", "yaxis"]) for (const [key, value] of Object.entries(axis)) flat[`${name}.${key}`] = value;
    return flat;
  };
  const drawn = [];
  for (const source of document.querySelectorAll("script[data-figure]")) {
    const place = document.getElementById(source.dataset.figure), figure = JSON.parse(source.textContent);
    await Plotly.newPlot(place, figure.data, figure.layout, { responsive: true, displayModeBar: false });
    await Plotly.relayout(place, look(place));
    drawn.push(place);
  }
  document.documentElement.dataset.drawn = String(drawn.length);
  const again = () => drawn.forEach((place) => Plotly.relayout(place, look(place)));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((d) => { d.open = true; });
    drawn.forEach((place) => Plotly.relayout(place, { ...look(place), width: Math.min(place.clientWidth, 660) }));
  });
  addEventListener("afterprint", () => drawn.forEach((place) => Plotly.relayout(place, { ...look(place), width: null, autosize: true })));
})();
