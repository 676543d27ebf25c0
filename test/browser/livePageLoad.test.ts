import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MISSING_FOR_BROWSER, openPage, startBrowser } from "../support/browser.ts";
import { type LiveServer, startLiveServer } from "../support/liveServer.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { waitFor } from "../support/waitFor.ts";

const TITLE = "the live view of 400 pods";
const FRAMES = 30;

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

  // `npm run bench:page` measures the time of a frame.
  it.each(["by pod", "by place"])("draws frame after frame %s, without a fault", async (kind) => {
    const { page, faults } = await openPage(browser, server.url);
    const button = page.getByRole("button", { name: kind });
    await button.click();
    // So near, the time moves by a pixel or more with each frame of the browser.
    await page.getByRole("application").focus();
    for (let press = 0; press < 5; press += 1) await page.keyboard.press("+");
    const count = (): Promise<number> => page.evaluate("document.querySelector('.host canvas').frames.count");
    const before = await count();
    await waitFor("frames", async () => (await count()) >= before + FRAMES);
    expect(faults).toEqual([]);
    await page.close();
  });
});
