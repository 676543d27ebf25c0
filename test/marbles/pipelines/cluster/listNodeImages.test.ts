import { defer, NEVER, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { NodeImage } from "../../../../src/core/node/nodeFacts.ts";
import { nodeImages } from "../../../../src/pipelines/cluster/listNodeImages.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const image = (id: string) => ({ id, repoDigests: [`${id}@d`], repoTags: [`${id}:1`], size: 7n, pinned: true });

/** The images of a node: the cell, the times of its listings, and what it logs. */
function imagesOf(m: Marbles) {
  const cell = createCell<readonly NodeImage[] | undefined>(undefined);
  const telemetry = recordingTelemetry();
  const world = { listed: ["a"], fails: false, cell, telemetry, askedAt: [] as number[] };
  const images = {
    listImages: () =>
      defer(() => {
        world.askedAt.push(m.clock.monotonicMs());
        if (world.fails) return throwError(() => kubeletError("Unavailable", "down"));
        return of({ images: world.listed.map(image) });
      }),
  };
  const run = (imagesChanged$: Parameters<typeof nodeImages>[0]["imagesChanged$"]) =>
    nodeImages(
      { imagesChanged$ },
      { images, clock: m.clock, telemetry } as unknown as Parameters<typeof nodeImages>[1],
      cell,
    );
  return { world, run };
}

describe("the images of the node", () => {
  it(
    "are listed at the start and every five minutes",
    marbles((m) => {
      const unsub = "   600001ms !";
      const expected = "";

      const { world, run } = imagesOf(m);
      m.expectObservable(run(NEVER), unsub).toBe(expected);
      m.flush();
      expect(world.askedAt).toEqual([0, 300_000, 600_000]);
      expect(world.cell.value).toEqual([{ id: "a", repoDigests: ["a@d"], repoTags: ["a:1"], size: 7n }]);
    }),
  );

  it(
    "are listed once for pulls that end within a second of the first",
    marbles((m) => {
      const imagesChanged = "10ms p 500ms p 2s p";
      const unsub = "        5s !";
      const expected = "";

      const { world, run } = imagesOf(m);
      m.expectObservable(run(m.hot(imagesChanged)), unsub).toBe(expected);
      m.flush();
      expect(world.askedAt).toEqual([0, 1010, 3512]);
    }),
  );

  it(
    "keep their identity while they are equal",
    marbles((m) => {
      const imagesChanged = "p 1999ms p 1999ms p";
      const unsub = "        6s !";
      const expected = "";

      const { world, run } = imagesOf(m);
      const seen: unknown[] = [];
      const note = () => seen.push(world.cell.value);
      m.expectObservable(run(m.hot(imagesChanged)), unsub).toBe(expected);
      m.at(500, note);
      m.at(1500, note);
      m.at(3600, () => (world.listed = ["a", "b"]));
      m.flush();
      expect(seen[1]).toBe(seen[0]);
      expect(world.cell.value?.map(({ id }) => id)).toEqual(["a", "b"]);
    }),
  );

  it(
    "stay after a failed listing, which is logged",
    marbles((m) => {
      const imagesChanged = "p 1999ms p";
      const unsub = "        4s !";
      const expected = "";

      const { world, run } = imagesOf(m);
      let before: unknown;
      m.expectObservable(run(m.hot(imagesChanged)), unsub).toBe(expected);
      m.at(1500, () => (before = world.cell.value));
      m.at(1600, () => (world.fails = true));
      m.flush();
      expect(world.cell.value).toBe(before);
      expect(world.telemetry.lines.map(({ level, message }) => [level, message])).toEqual([
        ["warn", "Cannot list images"],
      ]);
    }),
  );
});
