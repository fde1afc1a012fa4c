"""PDF files written by hand, so that every byte of them is known."""


def pdf(streams, *, filtered=b""):
    """A PDF of pages with these content streams; ``filtered`` names how the streams are packed."""
    count = len(streams)
    kids = b" ".join(b"%d 0 R" % (4 + 2 * at) for at in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, stream in enumerate(streams):
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        objects += [page % (5 + 2 * at), b"<< /Length %d %s>>\nstream\n%s\nendstream" % (len(stream), filtered, stream)]
    out, starts = [b"%PDF-1.4\n"], []
    for number, body in enumerate(objects, 1):
        starts.append(sum(map(len, out)))
        out.append(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    size = len(objects) + 1
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, table, size, sum(map(len, out)))
    return b"".join(out) + end


def page_of(*texts):
    """The content stream of a page with texts at places: ``(x, y, bytes)``."""
    return b"BT /F1 10 Tf " + b" ".join(b"1 0 0 1 %d %d Tm (%s) Tj" % text for text in texts) + b" ET"
