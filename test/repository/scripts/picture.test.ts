import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { drawRun } from "../../../scripts/picture/drawRun.ts";
import { isTold, momentOf } from "../../../scripts/picture/story.ts";
import { themeColours } from "../../../scripts/picture/svgDocument.ts";
import type { LiveMarble, LiveMessage, LivePod } from "../../../src/core/live/liveMessages.ts";
import { type XmlElement, xmlElements } from "../../support/xmlElements.ts";

const ROOT = new URL("../../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");
const COLOURS = themeColours(read("src/livePage/styles/1-base.css"));
const MAX_CHARACTERS = 120_000;
const MAX_ELEMENTS = 2_000;

/** Names that an element refers to and its document does not define. */
function undefinedNames(elements: readonly XmlElement[]): readonly string[] {
  const style = elements.find(({ name }) => name === "style")?.text ?? "";
  const [light = "", dark = ""] = style.split("@media");
  const ids = new Set(elements.map(({ attributes }) => attributes.get("id")));
  return elements.flatMap(({ attributes }) => {
    const classes = attributes.get("class")?.split(" ") ?? [];
    const link = attributes.get("href") ?? /^url\((.*)\)$/.exec(attributes.get("clip-path") ?? "")?.[1];
    return [
      ...classes.filter((own) => !light.includes(`.${own}{`)),
      ...classes.filter((own) => !own.startsWith("t") && !dark.includes(`.${own}{`)),
      ...(link === undefined || ids.has(link.slice(1)) ? [] : [link]),
    ];
  });
}

const AT = 1_000_000;
const NEXT = { what: "next try", at: AT + 34_000 };
const pod = (name: string, more: Partial<LivePod>): LivePod => ({
  ...{ uid: `uid-${name}`, namespace: "default", name, source: "file", state: "syncing", containers: [], waits: [] },
  ...more,
});
const loop = (name: string): LivePod =>
  pod(name, {
    phase: "Running",
    containers: [{ name: "main", kind: "main", state: "waiting", ready: false, restarts: 2 }],
    waits: [{ what: "CrashLoopBackOff", container: "main", next: NEXT }],
  });
const marbles: readonly LiveMarble[] = [
  { id: 1, at: AT + 1_000, place: "timelines", pod: "uid-loop", text: "Exited main", tookMs: 500, outcome: "failed" },
  { id: 2, at: AT + 2_000, place: "podStatuses", part: "podLifecycle", pod: "uid-job", text: "Succeeded, not Ready" },
  { id: 3, at: AT + 2_010, place: "registry", part: "podLifecycle", pod: "uid-job", text: "terminating", cause: 2 },
  { id: 4, at: AT + 21_000, place: "events", pod: "uid-job", text: "too late" },
];
const run = (loopName = "loop"): readonly LiveMessage[] => [
  { kind: "pods", at: AT + 20_000, pods: [{ ...loop(loopName), uid: "uid-loop" }, pod("job", { phase: "Succeeded" })] },
  { kind: "marbles", marbles, dropped: 0 },
  { kind: "flow", at: AT + 22_000, places: [] },
];
const textsOf = (picture: string): readonly string[] =>
  xmlElements(picture)
    .filter(({ name }) => name === "text")
    .map(({ text }) => text);

describe("drawRun", () => {
  it("draws the pods at the moment of the story, with the countdown, and the open marble with its effects", () => {
    const texts = textsOf(drawRun(run(), COLOURS));
    expect(momentOf(run())).toBe(AT + 20_000);
    expect(texts).toContain("CrashLoopBackOff \u00b7 14 s");
    expect(texts).toContain("job: \u201cSucceeded, not Ready\u201d, opened");
    expect(texts).toContain("what followed from it within 10 ms, place by place");
    expect(texts).toContain("terminating");
    expect(texts).not.toContain("too late");
  });

  it("gives the same picture of the same run", () => {
    expect(drawRun(run(), COLOURS)).toBe(drawRun(run(), COLOURS));
  });

  it("shows hostile names as text", () => {
    const elements = xmlElements(drawRun(run('<script x="1">&\u0007'), COLOURS));
    expect(elements.map(({ name }) => name)).not.toContain("script");
    expect(elements.some(({ text }) => text.startsWith("&lt;script"))).toBe(true);
    expect(undefinedNames(elements)).toEqual([]);
  });

  it("refuses a run without its story", () => {
    const early = run().filter(({ kind }) => kind !== "pods");
    expect(() => drawRun(early, COLOURS)).toThrow("waits after a crash");
    expect(isTold(early)).toBe(false);
    expect(isTold(run())).toBe(true);
    expect(isTold(run().filter(({ kind }) => kind !== "flow"))).toBe(false);
  });
});

describe("docs/live.svg", () => {
  const picture = read("docs/live.svg");
  const elements = xmlElements(picture);

  it("is well-formed, of bounded size, and defines what it uses in both themes", () => {
    expect(picture.length).toBeLessThan(MAX_CHARACTERS);
    expect(elements.length).toBeLessThan(MAX_ELEMENTS);
    expect(undefinedNames(elements)).toEqual([]);
    expect(elements.filter(({ attributes }) => [...attributes.keys()].some((name) => name.startsWith("on")))).toEqual(
      [],
    );
  });

  it("shows a crash loop with its countdown, a marble and its effects", () => {
    const texts = textsOf(picture);
    expect(texts.filter((text) => /^CrashLoopBackOff \u00b7 14 s$/.test(text))).toHaveLength(1);
    expect(texts.filter((text) => /^what followed from it within /.test(text))).toHaveLength(1);
    expect(elements.filter(({ name }) => name === "use").length).toBeGreaterThan(30);
  });

  it("has no paths and addresses of the machine that drew it, and pods of a node of our choice", () => {
    const texts = elements.map(({ text, name }) => (name === "style" ? "" : text)).join("\n");
    expect(texts).not.toMatch(/\/(?:tmp|home|root|work|Users)\b|\d+\.\d+\.\d+\.\d+|https?:/);
    expect(texts.match(/\b[a-z]+-laptop\b/g)?.length).toBeGreaterThanOrEqual(4);
  });

  it("is on the first screen of the README", () => {
    const head = read("README.md").split("\n").slice(0, 24).join("\n");
    expect(head).toMatch(/!\[[^\]]{40,}\]\(docs\/live\.svg\)/);
  });
});
