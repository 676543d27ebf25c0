/** Debian's Chromium, driven by Playwright, for tests of the live view's page. */
import { type Browser, chromium, type Page } from "playwright-core";
import { findProgram } from "./findProgram.ts";

const CHROMIUM = findProgram("chromium");

/** Missing requirements of tests in a browser. */
export const MISSING_FOR_BROWSER: readonly string[] = CHROMIUM === undefined ? ["chromium"] : [];

/** A browser that asks nothing of its maker's servers, and runs as root. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts the browser. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }), args: FLAGS });

/** A page, and what it must not have: messages in its console, and requests to other hosts. */
export interface WatchedPage {
  readonly page: Page;
  readonly faults: readonly string[];
}

/** Opens `url` in a window of its own, and notes each fault. */
export async function openPage(
  browser: Browser,
  url: string,
  options: Parameters<Browser["newPage"]>[0] = {},
): Promise<WatchedPage> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
  const faults: string[] = [];
  const { host } = new URL(url);
  page.on("console", (message) => faults.push(`console: ${message.text()}`));
  page.on("pageerror", ({ message }) => faults.push(`error: ${message}`));
  page.on("request", (request) => {
    const asked = new URL(request.url());
    if (asked.protocol !== "data:" && asked.host !== host) faults.push(`asked ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults };
}
