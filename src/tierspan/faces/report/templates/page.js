"use strict";
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
  const look = () => {
    const grid = colour("--line"), axis = { gridcolor: grid, linecolor: grid, zerolinecolor: grid };
    const flat = { "font.color": colour("--ink"), "legend.bgcolor": "rgba(0,0,0,0)" };
    if (innerWidth < 720) Object.assign(flat, { "legend.orientation": "h", "legend.y": -0.25 });
    for (const name of ["xaxis", "yaxis"]) for (const [key, value] of Object.entries(axis)) flat[`${name}.${key}`] = value;
    return flat;
  };
  const drawn = [];
  for (const source of document.querySelectorAll("script[data-figure]")) {
    const place = document.getElementById(source.dataset.figure), figure = JSON.parse(source.textContent);
    await Plotly.newPlot(place, figure.data, figure.layout, { responsive: true, displayModeBar: false });
    await Plotly.relayout(place, look());
    drawn.push(place);
  }
  document.documentElement.dataset.drawn = String(drawn.length);
  const again = () => drawn.forEach((place) => Plotly.relayout(place, look()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  addEventListener("beforeprint", () => { document.querySelectorAll("details").forEach((d) => { d.open = true; }); again(); });
  addEventListener("afterprint", again);
})();
