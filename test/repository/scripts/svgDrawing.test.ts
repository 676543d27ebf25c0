import { describe, expect, it } from "vitest";
import { svgDocument, themeColours } from "../../../scripts/picture/svgDocument.ts";
import {
  createSvgDrawing,
  createSvgNames,
  define,
  type SvgDrawing,
  type SvgNames,
} from "../../../scripts/picture/svgDrawing.ts";
import { xmlElements } from "../../support/xmlElements.ts";

function drawn(draw: (drawing: SvgDrawing, names: SvgNames) => void): readonly string[] {
  const names = createSvgNames();
  const drawing = createSvgDrawing(names);
  draw(drawing, names);
  return drawing.elements().split("\n");
}

describe("createSvgDrawing", () => {
  it("draws rectangles, circles, lines and curves in the colour and opacity of the moment", () => {
    const elements = drawn((drawing) => {
      drawing.fillStyle = "band";
      drawing.fillRect(1.23, 2, 30, 4.06);
      drawing.globalAlpha = 0.5;
      drawing.strokeStyle = "accent";
      drawing.beginPath();
      drawing.arc(10, 20, 8, 0, Math.PI * 2);
      drawing.fill();
      drawing.stroke();
      drawing.globalAlpha = 1;
      drawing.lineWidth = 1.5;
      drawing.beginPath();
      drawing.moveTo(0, -0.01);
      drawing.lineTo(5, 6);
      drawing.quadraticCurveTo(1, 2, 3, 4);
      drawing.bezierCurveTo(1, 2, 3, 4, 5, 6);
      drawing.closePath();
      drawing.stroke();
    });
    expect(elements).toEqual([
      '<rect x="1.2" y="2" width="30" height="4.1" class="f-band"/>',
      '<path d="M2 20a8 8 0 1 0 16 0a8 8 0 1 0 -16 0Z" class="f-band" opacity="0.5"/>',
      '<path d="M2 20a8 8 0 1 0 16 0a8 8 0 1 0 -16 0Z" class="s-accent" opacity="0.5"/>',
      '<path d="M0 0L5 6Q1 2 3 4C1 2 3 4 5 6Z" class="s-accent" stroke-width="1.5"/>',
    ]);
  });

  it("draws text at its place, one class per font, and escapes it", () => {
    const elements = drawn((drawing) => {
      drawing.font = "10px monospace";
      drawing.fillText('<b onload="x">&\u0000\u{1f600}\ud800', 1, 2);
      drawing.font = "600 20px system-ui, sans-serif";
      drawing.textAlign = "center";
      drawing.textBaseline = "middle";
      drawing.fillText("a", 1, 2);
      drawing.font = "10px monospace";
      drawing.textAlign = "right";
      drawing.textBaseline = "alphabetic";
      drawing.fillText("b", 1, 2);
    });
    expect(elements).toEqual([
      '<text x="1" y="2" class="t0 f-text">&lt;b onload=&quot;x&quot;&gt;&amp;\ufffd\u{1f600}\ufffd</text>',
      '<text x="1" y="9" text-anchor="middle" class="t1 f-text">a</text>',
      '<text x="1" y="2" text-anchor="end" class="t0 f-text">b</text>',
    ]);
  });

  it("clips until what was saved is restored, with one definition for equal ones", () => {
    const names = createSvgNames();
    const drawing = createSvgDrawing(names);
    for (const colour of ["good", "failed"]) {
      drawing.save();
      drawing.fillStyle = colour;
      drawing.beginPath();
      drawing.rect(1, 2, 3, 4);
      drawing.clip();
      drawing.fillRect(0, 0, 9, 9);
      drawing.restore();
    }
    drawing.use(
      define(names, "m", (id) => `<g id="${id}"/>`),
      5,
      6,
    );
    expect(drawing.fillStyle).toBe("text");
    expect(drawing.elements().split("\n")).toEqual([
      '<g clip-path="url(#clip0)">',
      '<rect x="0" y="0" width="9" height="9" class="f-good"/>',
      "</g>",
      '<g clip-path="url(#clip0)">',
      '<rect x="0" y="0" width="9" height="9" class="f-failed"/>',
      "</g>",
      '<use href="#m1" x="5" y="6"/>',
    ]);
    expect([...names.definitions.values()]).toEqual([
      '<clipPath id="clip0"><path d="M1 2h3v4h-3Z"/></clipPath>',
      '<g id="m1"/>',
    ]);
  });

  it.each<[string, (drawing: SvgDrawing) => void]>([
    ["an arc that is no circle", (drawing) => drawing.arc(0, 0, 1, 0, 1)],
    ["a restore without a save", (drawing) => drawing.restore()],
    ["a clip without a save", (drawing) => drawing.clip()],
    ["a colour that is no name", (drawing) => drawing.fillRect(0, 0, 1, 1)],
    ["a font without a size", (drawing) => drawing.measureText("a")],
  ])("refuses %s", (_, draw) => {
    const drawing = createSvgDrawing(createSvgNames());
    drawing.fillStyle = '#fff" onload="x';
    drawing.font = "monospace";
    expect(() => draw(drawing)).toThrow(TypeError);
  });
});

describe("svgDocument", () => {
  const css = ":root {\n  --text: light-dark(#111111, #eeeeee);\n  --other: blue;\n}";
  const frame = { width: 500, height: 200, title: "a & b", description: "<c>" };

  it("has the colours of both themes, generic fonts, and the texts of its frame", () => {
    const names = createSvgNames();
    const drawing = createSvgDrawing(names);
    drawing.font = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
    drawing.fillText("x", 0, 0);
    drawing.stroke();
    const elements = xmlElements(svgDocument(frame, drawing.elements(), names, themeColours(css)));
    const textOf = (wanted: string): string => elements.find(({ name }) => name === wanted)?.text ?? "";
    expect(Object.fromEntries(elements[0]?.attributes ?? [])).toEqual({
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: "0 0 500 200",
      width: "1000",
      height: "400",
      role: "img",
    });
    expect(textOf("title")).toBe("a &amp; b");
    expect(textOf("desc")).toBe("&lt;c&gt;");
    expect(textOf("style").trim().split("\n")).toEqual([
      ".t0{font:11px ui-monospace,monospace}",
      ".f-text{fill:#111111}",
      ".s-text{fill:none;stroke:#111111}",
      "@media (prefers-color-scheme:dark){",
      ".f-text{fill:#eeeeee}",
      ".s-text{fill:none;stroke:#eeeeee}",
      "}",
    ]);
  });

  it("refuses a colour that the style sheet has not in both themes", () => {
    const names = createSvgNames();
    const drawing = createSvgDrawing(names);
    drawing.fillStyle = "other";
    drawing.fillRect(0, 0, 1, 1);
    expect(() => svgDocument(frame, drawing.elements(), names, themeColours(css))).toThrow(TypeError);
  });
});
