import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MISSING_FOR_BROWSER, openPage, startBrowser, type WatchedPage } from "../support/browser.ts";
import { CRASH, crashRetryAt } from "../support/liveNode.ts";
import { type LiveServer, startLiveServer } from "../support/liveServer.ts";
import { COLOURS_OF_MARBLES, PIXELS, type Pixels } from "../support/marblePixels.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { waitFor } from "../support/waitFor.ts";

const TITLE = "the page of the live view";

describe.skipIf(mustSkip(TITLE, MISSING_FOR_BROWSER))(TITLE, () => {
  let browser: Browser;
  let server: LiveServer;
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    [browser, server] = await Promise.all([startBrowser(), startLiveServer({ pods: 24, startsPerSecond: 4 })]);
    watched = await openPage(browser, server.url);
    ({ page } = watched);
  });
  beforeEach(async () => {
    await page.goto(`${server.url}#/marbles`);
    await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  // `npm run bench:page` measures the time until then.
  it("shows marbles after its opening", async () => {
    await page.reload({ waitUntil: "commit" });
    await waitFor("marbles", async () => (await page.evaluate<Pixels>(PIXELS)).colours > COLOURS_OF_MARBLES);
  });

  it.each([
    ["the list of pods", "#/marbles", ".explained .countdown"],
    ["the view of the pod", `#/pod/default/${CRASH.name}`, ".why .countdown"],
  ])("counts down to the next start of a crash loop in %s, right within a second", async (_, path, place) => {
    await page.goto(server.url + path);
    // The first countdown of the list is that of the crash loop: the other pods are named after it.
    const read = `[document.querySelector(${JSON.stringify(place)})?.textContent ?? "", Date.now()]`;
    const errors: number[] = [];
    await waitFor("countdowns", async () => {
      const [text, now] = await page.evaluate<[string, number]>(read);
      const left = Number(/^in (\d+) s$/.exec(text)?.[1]);
      const retryAt = crashRetryAt(now, server.beginning);
      if (Number.isFinite(left) && retryAt !== undefined) errors.push(Math.abs(left * 1_000 - (retryAt - now)));
      return errors.length >= 15;
    });
    // A machine that is busy may show one late.
    expect(errors.toSorted((x, y) => x - y)[7]).toBeLessThan(1_000);
  });

  it("names the reasons of all pods in trouble in its first sight", async () => {
    const reasons = [
      ["needs-settings", 'configmap "settings" not found'],
      ["wants-disk", "The disk of /var/lib is full"],
      ["never-ready", "HTTP probe failed with status code 503"],
      ["slow-pull", "second in line behind registry.local/huge:2"],
      ["hangs-in-hook", "sh -c 'wait-for-peer' has not ended"],
    ] as const;
    for (const [name, reason] of reasons) {
      const pod = page.getByRole("complementary").getByRole("listitem").filter({ hasText: name });
      expect(await pod.innerText()).toContain(reason);
      const { y = 0, height = 0 } = (await pod.boundingBox()) ?? {};
      expect(y + height).toBeLessThan(900);
    }
  });

  it("stands still while it is paused, and zooms", async () => {
    const pixels = (): Promise<Pixels> => page.evaluate(PIXELS);
    const frames = (): Promise<number> => page.evaluate("document.querySelector('.host canvas').frames.count");
    await page.getByRole("application").focus();
    await page.keyboard.press("+");
    await page.getByLabel("Time shown").filter({ hasText: "20 s" }).waitFor();
    await page.keyboard.press("-");
    await page.getByLabel("Time shown").filter({ hasText: "30 s" }).waitFor();
    const moving = (await pixels()).hash;
    await waitFor("motion", async () => (await pixels()).hash !== moving);
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Go on", pressed: true }).waitFor();
    const still = await waitFor("a picture that stands still", async () => {
      const before = (await pixels()).hash;
      const drawn = await frames();
      await waitFor("frames", async () => (await frames()) > drawn + 2);
      return (await pixels()).hash === before ? { hash: before } : undefined;
    });
    await page.keyboard.press("Shift+ArrowLeft");
    await waitFor("an earlier time", async () => (await pixels()).hash !== still.hash);
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Pause" }).waitFor();
  });

  it("opens marbles and views by the keyboard alone", async () => {
    const focused = (): Promise<string> =>
      page.evaluate(
        "document.activeElement.id || document.activeElement.className || document.activeElement.textContent",
      );
    await page.reload();
    await page.getByRole("status").filter({ hasText: "live" }).waitFor();
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("skip");
    await page.keyboard.press("Enter");
    expect(await focused()).toBe("view");
    await page.keyboard.press("/");
    await waitFor("the filter", async () => (await focused()) === "filter");
    await page.keyboard.type("web-003 registry");
    await waitFor("the diagram", async () => {
      await page.keyboard.press("Tab");
      return (await focused()) === "host";
    });
    await page.keyboard.press("ArrowDown");
    const spoken = page.locator(".frame [role=status]");
    await waitFor("a marble", async () => (await spoken.innerText()).startsWith("kube-system/web-003"));
    const first = await spoken.innerText();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Home");
    await waitFor("another marble", async () => (await spoken.innerText()) !== first);
    await page.keyboard.press("Enter");
    await waitFor("the open marble", async () => (await focused()) === "inspector");
    expect(await page.locator("#inspector").innerText()).toMatch(/Led here[^]*Led to/);
    await page.keyboard.press("Escape");
    await waitFor("the diagram again", async () => (await focused()) === "host");
    for (const [key, name] of [
      ["2", "Pipeline"],
      ["3", "Node"],
      ["1", "Marbles"],
    ] as const) {
      await page.keyboard.press(key);
      await page.getByRole("main").getByRole("region", { name, exact: true }).waitFor();
    }
    await page.keyboard.press("2");
    await page.getByRole("button", { name: "podLifecycle" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "podLifecycle", pressed: true }).waitFor();
    await page.getByRole("link", { name: CRASH.name }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("main").getByText("Timeline", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Try again now" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("backoffs of 1 container reset").waitFor();
    expect(server.asked).toContain(`/live/retry/default/${CRASH.name}`);
  });

  it("shows hostile names, messages and logs as text", async () => {
    await page.goto(`${server.url}#/pod/default/${CRASH.name}`);
    await page.getByText("the last line").waitFor();
    const log = await page.getByRole("region", { name: "Log of app" }).innerText();
    expect(log).toContain("<img src=x onerror=");
    expect(Math.max(...log.split("\n").map((line) => line.length))).toBe(1_000);
    const shown = await page.evaluate<string>("document.body.textContent");
    expect(shown).toContain("<img src=x onerror=");
    expect([...shown].filter((character) => /[\u0000\u001b\u202e]/.test(character))).toEqual([]);
    expect(await page.evaluate("document.querySelectorAll('img, script:not([src]), b b').length")).toBe(0);
    expect(await page.title()).toBe("worker-7 \u00b7 rxlet");
  });

  it("shows the garbage of the node, and its sources with those that are down first", async () => {
    await page.goto(`${server.url}#/node`);
    const garbage = page.getByRole("region", { name: "Garbage" });
    await garbage.getByText("7, at most 3.00 GiB").waitFor();
    expect((await garbage.innerText()).split("\n").slice(-2)).toEqual(["Dead containers", "5"]);
    await page.goto(`${server.url}#/pipeline`);
    const sources = page.getByRole("region", { name: "Table of sources" }).getByRole("row");
    await sources.first().waitFor();
    expect((await sources.allInnerTexts()).map((row) => row.split("\t").map((cell) => cell.trim()))).toEqual([
      ["Source", "State", "Restarts"],
      ["http", "down", "3"],
      ["api", "up", "1"],
      ["runtimeEvents", "up", "0"],
    ]);
  });

  it("keeps the theme that its reader chooses", async () => {
    const background = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    await page.emulateMedia({ colorScheme: "light" });
    const light = await background();
    await page.getByRole("button", { name: "Theme: auto" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Theme: dark" }).waitFor();
    expect(await background()).not.toBe(light);
    await page.getByRole("button", { name: "Theme: dark" }).click();
    await page.getByRole("button", { name: "Theme: light" }).click();
    await page.getByRole("button", { name: "Theme: auto" }).waitFor();
  });

  it("says that it is disconnected, and resumes after its last marble", async () => {
    const own = await startLiveServer({ pods: 2, startsPerSecond: 4 });
    const { page: cut } = await openPage(browser, own.url);
    await cut.locator(".places-seen li").first().waitFor();
    own.cut();
    await cut.getByRole("status").filter({ hasText: "disconnected" }).waitFor();
    own.accept();
    await cut
      .getByRole("status")
      .filter({ hasText: /^live$/ })
      .waitFor();
    expect(own.resumed[0]).toBeUndefined();
    expect(own.resumed.slice(1).some((id) => Number(id) > 0)).toBe(true);
    await cut.close();
    await own.close();
  });

  it("fits a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of ["#/marbles", "#/pipeline", "#/node", `#/pod/default/${CRASH.name}`]) {
      await page.goto(server.url + path);
      await page.getByRole("main").getByRole("heading").first().waitFor({ state: "attached" });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it("has written nothing into the console, and asked no other host", () => {
    expect(watched.faults).toEqual([]);
  });
});
