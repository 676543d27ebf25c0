import { expect, it } from "vitest";
import { foreignName } from "../../../../src/core/server/foreignPage.ts";

const names = new Set(["node-1"]);
const nameIn = (headers: Readonly<Record<string, string>>) => foreignName((name) => headers[name], names);

it.each([
  ["evil.example", "evil.example"],
  ["EVIL.example.:10255", "evil.example"],
  ["notlocalhost", "notlocalhost"],
  ["node-10", "node-10"],
  ["", ""],
  ["node-1", undefined],
  ["Node-1.:10255", undefined],
  ["localhost:10255", undefined],
  ["a.localhost", undefined],
  ["127.0.0.1:10255", undefined],
  ["[::1]:10255", undefined],
])("a browser's request for the host %j names the foreign %j", (host, expected) => {
  expect(nameIn({ host, origin: "http://evil.example" })).toBe(expected);
});

it.each(["accept-language", "origin", "sec-fetch-mode", "sec-fetch-site"])("%s marks a browser", (header) => {
  expect(nameIn({ host: "evil.example", [header]: "" })).toBe("evil.example");
});

it("other clients may use any name, and a browser's missing host is foreign", () => {
  expect([nameIn({ host: "evil.example", accept: "*/*" }), nameIn({ origin: "null" })]).toEqual([undefined, ""]);
});
