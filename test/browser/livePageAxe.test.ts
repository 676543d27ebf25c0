import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MISSING_FOR_BROWSER, openPage, startBrowser } from "../support/browser.ts";
import { CRASH } from "../support/liveNode.ts";
import { type LiveServer, startLiveServer } from "../support/liveServer.ts";
import { mustSkip } from "../support/mustSkip.ts";

const TITLE = "accessibility of the live view's page";
const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const RUN = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))";

describe.skipIf(mustSkip(TITLE, MISSING_FOR_BROWSER))(TITLE, () => {
  let browser: Browser;
  let server: LiveServer;
  beforeAll(async () => {
    [browser, server] = await Promise.all([startBrowser(), startLiveServer({ pods: 12, startsPerSecond: 4 })]);
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  describe.each(["dark", "light"] as const)("in the %s theme", (colorScheme) => {
    it.each([
      ["marbles", "#/marbles", ".places-seen li"],
      ["pipeline", "#/pipeline", ".box"],
      ["node", "#/node", ".calls"],
      ["pod", `#/pod/default/${CRASH.name}`, ".log pre"],
    ])("has no findings in the view of the %s", async (_, path, sign) => {
      // The policy of the page forbids scripts of others, such as the checker.
      const { page } = await openPage(browser, server.url + path, { colorScheme, bypassCSP: true });
      await page.locator(sign).first().waitFor();
      if (path === "#/marbles") {
        await page.getByRole("application").focus();
        for (const key of ["ArrowDown", "Enter"]) await page.keyboard.press(key);
        await page.locator("#inspector").waitFor();
      }
      await page.evaluate(AXE);
      expect(await page.evaluate(RUN)).toEqual([]);
      await page.close();
    });
  });

  it("has no findings on a phone, and in the list of marbles", async () => {
    const { page } = await openPage(browser, server.url, { viewport: { width: 390, height: 844 }, bypassCSP: true });
    await page.evaluate(AXE);
    await page.getByRole("button", { name: "List" }).click();
    await page.getByRole("cell").first().waitFor();
    expect(await page.evaluate(RUN)).toEqual([]);
    await page.close();
  });
});
