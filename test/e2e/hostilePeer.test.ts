/** Hostile peers of the HTTPS server, all kinds at once, beside an administrator who goes on using the node. */
import { expect, it } from "vitest";
import { attackNode } from "../support/attackedNode.ts";

/** On a machine that has nothing else to do all requests take less; on a busy one, half of them less than a multiple of the floor. */
const PATIENCE_MS = 1_000;
const SLOWER = 20;
const MORE_MIB = 512;

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length / 2) - 1] ?? Number.NaN;

it("leave an administrator his answers, and the daemon its memory", { timeout: 480_000 }, async () => {
  const { aloneMs, attackedMs, retries, rssMib, connections, ended, tokenReviews } = await attackNode({
    floorMs: 5_000,
    attackMs: 30_000,
  });
  expect(median(attackedMs)).toBeLessThan(Math.max(PATIENCE_MS, SLOWER * median(aloneMs)));
  // A retry for the revoked certificate; the others for connections that closed with it.
  expect(retries).toBeLessThan(5);
  expect(rssMib.peak - rssMib.before).toBeLessThan(MORE_MIB);
  // Each attack was one, and met its end: messages of empty frames, refused strangers, tokens that nobody reviews.
  expect(connections.peak).toBeGreaterThan(200);
  expect(tokenReviews).toBeGreaterThan(100);
  for (const name of ["emptyFrames", "disguised", "strangers", "forgedTokens"]) expect(ended[name]).toBeGreaterThan(0);
  // The certificate of these lost its worth, though they were never idle.
  expect(ended["neverIdle"]).toBe(4);
});
