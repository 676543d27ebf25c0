/**
 * The part of a canvas' context that the diagram draws with. A frame goes to a canvas on the page, and to SVG for the
 * picture of the README.
 */
export interface Drawing {
  fillStyle: string | object;
  strokeStyle: string | object;
  lineWidth: number;
  globalAlpha: number;
  /** A size in pixels and families, after a weight if any: `600 12px system-ui, sans-serif`. */
  font: string;
  textAlign: "left" | "center" | "right" | "start" | "end";
  textBaseline: "middle" | "alphabetic" | "top" | "bottom" | "hanging" | "ideographic";
  save(): void;
  restore(): void;
  beginPath(): void;
  closePath(): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  quadraticCurveTo(bendX: number, bendY: number, x: number, y: number): void;
  bezierCurveTo(fromX: number, fromY: number, toX: number, toY: number, x: number, y: number): void;
  rect(x: number, y: number, width: number, height: number): void;
  clip(): void;
  fill(): void;
  stroke(): void;
  fillRect(x: number, y: number, width: number, height: number): void;
  fillText(text: string, x: number, y: number): void;
  measureText(text: string): { readonly width: number };
}
