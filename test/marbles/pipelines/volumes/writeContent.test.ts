import { map, type Observable, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { err, ok } from "../../../../src/core/result.ts";
import type { Payload } from "../../../../src/core/volume/payloadFile.ts";
import { podContentBudget } from "../../../../src/core/volume/volumeBudget.ts";
import { NO_CONTENT, type VolumeContent } from "../../../../src/pipelines/volumes/volumeContent.ts";
import { createContentTurns, writeContent } from "../../../../src/pipelines/volumes/writeContent.ts";
import { marbles, type Marbles } from "../../../support/marbles.ts";

const MEBIBYTE = 1024 * 1024;

/** Content of this many bytes that counts how often it is built. */
function contentOf(bytes: number): VolumeContent & { readonly builds: () => number } {
  let builds = 0;
  const payload = (): ReturnType<VolumeContent["payload"]> => {
    builds += 1;
    const files: Payload = new Map([["file", { content: new Uint8Array(bytes), mode: 0o644 }]]);
    return ok(files);
  };
  return { ...NO_CONTENT, payload, builds: () => builds };
}

/** The writes of volumes on one node, each of which shows its name while it is written. */
function node({ clock }: Marbles, writes$: Observable<string>) {
  const contentTurns = createContentTurns(clock);
  return (name: string, content: VolumeContent): Observable<string> => {
    const written = writeContent(name, content, { budget: podContentBudget(), contentTurns }, () =>
      writes$.pipe(map(() => name)),
    );
    return written.ok ? written.value : throwError(() => written.error);
  };
}

describe("the content of volumes", () => {
  it(
    "is written at once up to a mebibyte",
    marbles((m) => {
      const write = "   --w--|";
      const expected = "--a--|";
      const second = "  --b--|";

      const written = node(m, m.cold(write));
      m.expectObservable(written("a", contentOf(MEBIBYTE))).toBe(expected);
      m.expectObservable(written("b", contentOf(MEBIBYTE))).toBe(second);
    }),
  );

  it(
    "is written one volume at a time beyond that, and built again in its turn",
    marbles((m) => {
      const write = "   --w--|";
      const expected = "--a--|";
      const second = "  -------b--|";

      const written = node(m, m.cold(write));
      const large = contentOf(MEBIBYTE + 1);
      m.expectObservable(written("a", contentOf(MEBIBYTE + 1))).toBe(expected);
      m.expectObservable(written("b", large)).toBe(second);
      expect(large.builds()).toBe(1);
      m.flush();
      expect(large.builds()).toBe(2);
    }),
  );

  it(
    "waits at most a minute for a write that does not end",
    marbles((m) => {
      const write = "   --w";
      const unsub = "   - 2m !";
      const expected = "--a";
      const second = "  60002ms b";

      const written = node(m, m.cold(write));
      m.expectObservable(written("a", contentOf(2 * MEBIBYTE)), unsub).toBe(expected);
      m.expectObservable(written("b", contentOf(2 * MEBIBYTE)), unsub).toBe(second);
    }),
  );

  it(
    "fails when it became wrong while it waited",
    marbles((m) => {
      const write = "   -|";
      const expected = "-|";
      const failed = "  -#";

      const gone = kubeletError("NotFound", "gone");
      const large = contentOf(2 * MEBIBYTE);
      const wrong = { ...large, payload: () => (large.builds() === 0 ? large.payload() : err(gone)) };
      const written = node(m, m.cold(write));
      m.expectObservable(written("a", contentOf(2 * MEBIBYTE))).toBe(expected);
      m.expectObservable(written("b", wrong)).toBe(failed, {}, gone);
    }),
  );
});

it("content that cannot be built is not written", () => {
  const gone = kubeletError("NotFound", "gone");
  const deps = { budget: podContentBudget(), contentTurns: createContentTurns({} as never) };
  const written = writeContent("v", { ...NO_CONTENT, payload: () => err(gone) }, deps, () => {
    throw new Error("written");
  });
  expect(written).toEqual(err(gone));
});

it("content beyond the budget of the pod is not written, and the error names its volume", () => {
  const deps = { budget: podContentBudget(), contentTurns: createContentTurns({} as never) };
  deps.budget.hold("other", 256 * MEBIBYTE);
  const written = writeContent("v", contentOf(1), deps, () => {
    throw new Error("written");
  });
  expect(written).toMatchObject({
    ok: false,
    error: { message: expect.stringMatching(/^volume "v": .* it has 1, the others have 268435456$/) as string },
  });
});
