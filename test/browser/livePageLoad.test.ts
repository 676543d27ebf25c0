import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MISSING_FOR_BROWSER, openPage, startBrowser } from "../support/browser.ts";
import { type LiveServer, startLiveServer } from "../support/liveServer.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { waitFor } from "../support/waitFor.ts";

const TITLE = "the live view of 400 pods";
/** Frames of two seconds at 60 frames a second. */
const FRAMES = 120;
/** A frame at 30 frames a second. */
const FRAME_MS = 1_000 / 30;

interface Measured {
  readonly count: number;
  readonly drawMs: number;
  readonly longestMs: number;
  readonly perSecond: number;
}

/** Reads the latest frames of the diagram. */
const MEASURE = `(() => {
  const { frames } = document.querySelector(".host canvas");
  const kept = Math.min(frames.count, frames.at.length, ${FRAMES});
  const newest = Array.from({ length: kept }, (_, back) => (frames.count - kept + back) % frames.at.length);
  const drawn = newest.map((at) => frames.drawMs[at]).sort((a, b) => a - b);
  const lasted = frames.at[newest.at(-1)] - frames.at[newest[0]];
  return {
    count: frames.count,
    drawMs: drawn[kept >> 1],
    longestMs: drawn.at(-1),
    perSecond: ((kept - 1) * 1000) / lasted,
  };
})()`;

describe.skipIf(mustSkip(TITLE, MISSING_FOR_BROWSER))(TITLE, () => {
  let browser: Browser;
  let server: LiveServer;
  beforeAll(async () => {
    [browser, server] = await Promise.all([startBrowser(), startLiveServer({ pods: 400, startsPerSecond: 40 })]);
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  it.each(["by pod", "by place"])("draws a frame in less than 33 ms %s", async (kind) => {
    const { page, faults } = await openPage(browser, server.url);
    const button = page.getByRole("button", { name: kind });
    await button.click();
    // So near, the time moves by a pixel or more with each frame of the browser.
    await page.getByRole("application").focus();
    for (let press = 0; press < 5; press += 1) await page.keyboard.press("+");
    const before = await page.evaluate<number>("document.querySelector('.host canvas').frames.count");
    const measured = await waitFor("frames", async () => {
      const now = await page.evaluate<Measured>(MEASURE);
      return now.count >= before + FRAMES ? now : undefined;
    });
    const { drawMs, longestMs, perSecond } = measured;
    process.stdout.write(
      `400 pods ${kind}: ${perSecond.toFixed(0)} frames a second, drawn in ${drawMs.toFixed(1)} ms (median), ${longestMs.toFixed(1)} ms (longest)\n`,
    );
    expect(drawMs).toBeLessThan(FRAME_MS);
    expect(faults).toEqual([]);
    await page.close();
  });
});
