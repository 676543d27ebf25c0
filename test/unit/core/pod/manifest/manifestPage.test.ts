import { describe, expect, it } from "vitest";
import { applyAnswer, NO_MANIFEST_PAGE, type PageAnswer } from "../../../../../src/core/pod/manifest/manifestPage.ts";
import { NO_READING } from "../../../../../src/core/pod/manifest/readManifest.ts";
import { podFullName } from "../../../../../src/core/ids.ts";
import { podOf } from "../../../../support/pods.ts";

const URL = "http://manifests.example/pods";
const failed = (reason: string): PageAnswer => ({ kind: "failed", reason });
const page = (content: string, reading: Partial<typeof NO_READING> = {}): PageAnswer => ({
  kind: "content",
  content,
  reading: { ...NO_READING, ...reading },
});
const bad = new Set([podFullName("web", "demo")]);
const after = (...answers: readonly PageAnswer[]) =>
  answers.reduce((before, answer) => applyAnswer(before, answer, URL), NO_MANIFEST_PAGE);

describe("the page of the manifest server", () => {
  it.each<[title: string, answers: readonly PageAnswer[], isReady: boolean]>([
    ["no usable response", [failed("refused")], false],
    ["an empty response", [{ kind: "empty" }], true],
    ["a list without pods", [page("a")], true],
    ["a valid pod", [page("a", { pods: [podOf()] })], true],
    ["a valid pod beside a bad one", [page("a", { pods: [podOf()], failed: bad })], true],
    ["nothing but a bad pod", [page("a", { failed: bad })], false],
    ["nothing but a pod without a name", [page("a", { hasNamelessFailure: true })], false],
    ["a bad pod after a list without pods", [page("a"), page("b", { failed: bad })], true],
    ["no usable response after a valid pod", [page("a", { pods: [podOf()] }), failed("refused")], true],
  ])("is ready or not after %s", (_, answers, isReady) => {
    const { isReady: found, snapshot } = after(...answers);
    expect([found, snapshot?.ready !== false]).toEqual([isReady, isReady]);
  });

  it("keeps its pods and reports the reason while no response is usable", () => {
    const { snapshot } = after(page("a", { pods: [podOf()] }), failed("refused"));
    expect([snapshot?.source, snapshot?.pods.length]).toEqual(["http", 1]);
    expect(snapshot?.problems.map(({ severity, origin, reason }) => [severity, origin, reason])).toEqual([
      ["error", URL, "refused"],
    ]);
  });

  it.each<[string, PageAnswer]>([
    ["is not modified", { kind: "unchanged" }],
    ["has the same content", page("a")],
  ])("ends its problem when it %s", (_, answer) => {
    const good = page("a", { pods: [podOf()] });
    expect(after(good, failed("refused"), answer).snapshot).toEqual(after(good).snapshot);
  });

  it("drops its pods and reports a problem when it is empty", () => {
    const { pods, snapshot } = after(page("a", { pods: [podOf()] }), { kind: "empty" });
    expect([pods, snapshot?.problems.map(({ reason }) => reason)]).toEqual([[], ["zero-length data received"]]);
  });

  it("reads the same content again after it was empty", () => {
    const good = page("a", { pods: [podOf()] });
    expect(after(good, { kind: "empty" }, good).pods).toHaveLength(1);
  });

  it("keeps its snapshot while the failure stays the same", () => {
    const before = after(page("a", { pods: [podOf()] }), failed("refused"));
    expect(applyAnswer(before, failed("refused"), URL).snapshot).toBe(before.snapshot);
  });

  it("has a new snapshot for another failure", () => {
    const before = after(failed("refused"));
    expect(applyAnswer(before, failed("timeout"), URL).snapshot?.problems.map(({ reason }) => reason)).toEqual([
      "timeout",
    ]);
  });

  it("has a new snapshot when it becomes ready without pods", () => {
    const before = after(failed("refused"));
    expect(applyAnswer(before, page("a"), URL).snapshot).toEqual({
      source: "http",
      pods: [],
      objects: [],
      problems: [],
    });
  });
});
