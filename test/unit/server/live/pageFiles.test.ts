import { expect, it } from "vitest";
import { pageFiles } from "../../../../src/server/live/pageFiles.ts";

const textOf = async (name: string): Promise<string> => new TextDecoder().decode((await pageFiles()).get(name)?.body);

it("bundles the page from the sources, once", async () => {
  const files = await pageFiles();
  expect([...files].map(([name, { type }]) => [name, type])).toEqual([
    ["index.html", "text/html; charset=utf-8"],
    ["page.js", "text/javascript; charset=utf-8"],
    ["page.css", "text/css; charset=utf-8"],
  ]);
  expect(await pageFiles()).toBe(files);
});
it("names its script and style, and has none within", async () => {
  const html = await textOf("index.html");
  expect(html).toMatch(/<script type="module" src="page.js"><\/script>/);
  expect(html).toMatch(/<link rel="stylesheet" href="page.css" \/>/);
  expect(html).not.toMatch(/style=|<style|\son\w+=|<script>/);
});
it("asks nothing from elsewhere", async () => {
  expect(await textOf("page.css")).not.toMatch(/url\(|@import/);
  const script = await textOf("page.js");
  expect(script).not.toMatch(/\bimport\s*\(|\bfrom\s*"/);
  // Names of XML vocabularies are no addresses.
  const addresses = [...script.matchAll(/https?:\/\/[^"'`\s)]+/g)].map(([address]) => address);
  expect(addresses.filter((address) => !address.startsWith("http://www.w3.org/"))).toEqual([]);
});
it("is small", async () => {
  expect((await textOf("page.js")).length).toBeLessThan(250_000);
});
