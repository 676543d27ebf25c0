/** Hostile peers of the HTTPS server, all kinds at once, beside an administrator who goes on using the node. */
import { expect, it } from "vitest";
import { attackNode } from "../support/attackedNode.ts";

/** However fast the machine is, a request of an administrator may take so long; on a slow one, a multiple of what it took. */
const PATIENCE_MS = 1_000;
const SLOWER = 20;
/** Of a hundred requests, so many; a busy machine may keep the others waiting, though never until a client gives up. */
const IN_TIME = 0.95;
const CLIENT_TIMEOUT_MS = 10_000;
const MORE_MIB = 512;

const slowest = (times: readonly number[], part = 1): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * part) - 1] ?? Number.NaN;

it("leave an administrator his answers, and the daemon its memory", { timeout: 240_000 }, async () => {
  const { aloneMs, attackedMs, retries, rssMib, connections, ended, tokenReviews } = await attackNode({
    floorMs: 5_000,
    attackMs: 30_000,
  });
  expect(slowest(attackedMs, IN_TIME)).toBeLessThan(Math.max(PATIENCE_MS, SLOWER * slowest(aloneMs)));
  expect(slowest(attackedMs)).toBeLessThan(CLIENT_TIMEOUT_MS);
  // One for the certificate that lost its worth; the others for connections that ended with it.
  expect(retries).toBeLessThan(5);
  expect(rssMib.peak - rssMib.before).toBeLessThan(MORE_MIB);
  // Each attack was one, and met its end: messages of empty frames, refused strangers, tokens that nobody reviews.
  expect(connections.peak).toBeGreaterThan(200);
  expect(tokenReviews).toBeGreaterThan(100);
  for (const name of ["emptyFrames", "disguised", "strangers", "forgedTokens"]) expect(ended[name]).toBeGreaterThan(0);
  // The certificate of these lost its worth, though they were never idle.
  expect(ended["neverIdle"]).toBe(4);
});
