/** The client of the API server through proxies, on real connections. */
import { firstValueFrom, take, toArray } from "rxjs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { toKubeletError } from "../../../../src/core/errors.ts";
import { type HttpsApiServer, startHttpsApiServer } from "../../../support/apiServer/httpsApiServer.ts";
import { openTestLane, type TestLane } from "../../../support/apiServer/testLane.ts";
import { startHttpProxy, startSocksProxy, type TestProxy } from "../../../support/proxies.ts";

describe("client of the API server through a proxy", () => {
  let current: HttpsApiServer | undefined;
  const opened: { close(): unknown }[] = [];
  const server = (): HttpsApiServer => {
    if (current === undefined) throw new Error("the server did not start");
    return current;
  };
  const behind = (proxyUrl: string): TestLane => {
    const lane = openTestLane(server(), { token: "admin", proxyUrl });
    opened.push(lane);
    return lane;
  };
  const proxied = async (proxy: Promise<TestProxy>): Promise<TestProxy> => {
    const made = await proxy;
    opened.push(made);
    return made;
  };
  const target = (): string => new URL(server().url).host;
  beforeAll(async () => {
    current = await startHttpsApiServer();
    current.tokens.set("admin", { kind: "admin" });
    current.sim.put("nodes", { metadata: { name: "n1" } });
  });
  afterEach(() => {
    for (const each of opened.splice(0).reverse()) each.close();
  });
  afterAll(() => current?.close());

  it.each([
    ["HTTP", () => startHttpProxy()],
    ["SOCKS 5", () => startSocksProxy()],
  ])("reads, writes and watches through one of %s", async (_name, start) => {
    const proxy = await proxied(start());
    const { port } = behind(proxy.url);
    const label = { type: "application/merge-patch+json", body: { metadata: { labels: { seen: "yes" } } } } as const;
    const before = await firstValueFrom(port.get("nodes", { name: "n1" }));
    await firstValueFrom(port.patch("nodes", { name: "n1" }, label));
    const watched = await firstValueFrom(port.watch("nodes", {}).pipe(take(1), toArray()));
    expect([before.metadata?.name, watched.map(({ type }) => type), [...new Set(proxy.tunnels)]]).toEqual([
      "n1",
      ["ADDED"],
      [target()],
    ]);
  });

  it("shows the credentials of the proxy's URL to the proxy", async () => {
    const proxy = await proxied(startHttpProxy());
    const { port } = behind(proxy.url.replace("//", "//anna:s%40me@"));
    await firstValueFrom(port.get("nodes", { name: "n1" }));
    expect(proxy.tunnels).toEqual([`anna:s@me ${target()}`]);
  });

  it.each(["403 Forbidden", "407 Proxy Authentication Required", "502 Bad Gateway"])(
    "has no answer when the proxy says %s, and says so",
    async (refusal) => {
      const { port } = behind((await proxied(startHttpProxy(refusal))).url);
      const failure = await firstValueFrom(port.get("nodes", { name: "n1" })).catch(toKubeletError);
      expect(failure).toMatchObject({ code: "Unavailable", message: expect.stringContaining(refusal.slice(0, 3)) });
    },
  );

  it("has no answer when there is no proxy", async () => {
    const proxy = await startHttpProxy();
    proxy.close();
    const failure = await firstValueFrom(behind(proxy.url).port.get("nodes", { name: "n1" })).catch(toKubeletError);
    expect(failure).toMatchObject({ code: "Unavailable", message: expect.stringContaining("connection refused") });
  });
});
