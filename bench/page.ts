/**
 * Measures the page of the live view in Chromium, served with a scripted node: the time from the opening to the first marbles,
 * beside that of a bare page in the same browser, and the time of a frame. `node bench/page.ts` [pods]
 */
import type { Page } from "playwright-core";
import { MISSING_FOR_BROWSER, openPage, startBrowser } from "../test/support/browser.ts";
import { DRAWN_FRAMES, type DrawnFrames, FRAMES } from "../test/support/diagramFrames.ts";
import { startLiveServer } from "../test/support/liveServer.ts";
import { COLOURS_OF_MARBLES, PIXELS, type Pixels } from "../test/support/marblePixels.ts";
import { waitFor } from "../test/support/waitFor.ts";
import { median, printFigure, printRow, printTitle } from "./figures.ts";

const pods = Number(process.argv[2] ?? 400);
const OPENINGS = 15;
const PATIENCE_MS = 60_000;
const NOW = "performance.now()";
const BARE_PAGE = "data:text/html,<title>bare</title><p>bare</p>";

if (MISSING_FOR_BROWSER.length > 0) {
  console.error(`cannot measure here, missing: ${MISSING_FOR_BROWSER.join(", ")}`);
  process.exit(1);
}
const [browser, server] = await Promise.all([startBrowser(), startLiveServer({ pods, startsPerSecond: pods / 10 })]);
try {
  const { page } = await openPage(browser, server.url);
  const [bare, marbles]: [number[], number[]] = [[], []];
  for (let opening = 0; opening < OPENINGS; opening += 1) {
    bare.push(await msToOpen(page, BARE_PAGE, () => page.evaluate("document.querySelector('p') !== null")));
    marbles.push(
      await msToOpen(page, `${server.url}#/marbles`, async () => {
        if (!(await page.evaluate("document.querySelector('.host canvas') !== null"))) return false;
        return (await page.evaluate<Pixels>(PIXELS)).colours > COLOURS_OF_MARBLES;
      }),
    );
  }
  printTitle(`the page of the live view, ${pods} pods (ms)`);
  printRow("a bare page", bare);
  printRow("first marbles", marbles, `aim: 1,000; ${(median(marbles) / median(bare)).toFixed(1)} bare pages`);
  for (const kind of ["by pod", "by place"]) {
    const { drawMs, longestMs, perSecond } = await drawnFrames(page, kind);
    printFigure(`a frame ${kind}, median`, drawMs, "ms", "aim: 33");
    printFigure("  longest", longestMs, "ms");
    printFigure("  frames a second", perSecond, "");
  }
} finally {
  await browser.close();
  await server.close();
}

/** Milliseconds of the page's own clock until `isShown`. */
async function msToOpen(page: Page, url: string, isShown: () => Promise<boolean>): Promise<number> {
  await page.goto("about:blank");
  await page.goto(url, { waitUntil: "commit" });
  await waitFor(url, isShown, PATIENCE_MS);
  return page.evaluate<number>(NOW);
}

/** Watches the diagram, so near that the time moves by a pixel or more with each frame of the browser. */
async function drawnFrames(page: Page, kind: string): Promise<DrawnFrames> {
  await page.getByRole("button", { name: kind }).click();
  await page.getByRole("application").focus();
  for (let press = 0; press < 5; press += 1) await page.keyboard.press("+");
  const count = (): Promise<number> => page.evaluate("document.querySelector('.host canvas').frames.count");
  const before = await count();
  await waitFor("frames", async () => (await count()) >= before + FRAMES, PATIENCE_MS);
  return page.evaluate<DrawnFrames>(DRAWN_FRAMES);
}
