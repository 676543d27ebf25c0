import { concat, defer, ignoreElements, map, mergeAll, of, range } from "rxjs";
import { expect, it } from "vitest";
import { createApiLanes } from "../../../../src/sinks/apiServer/apiLanes.ts";
import { marbles } from "../../../support/marbles.ts";

it(
  "limits pod requests to kubeAPIQPS and kubeAPIBurst, and reports how long each waited",
  marbles(({ clock, expectObservable, flush }) => {
    const expected = "(12) 6ms 3 9ms (4|)";

    const waits: string[] = [];
    const { lanes, close } = createApiLanes({
      endpoint: {
        server: "https://127.0.0.1:6443",
        certificateAuthority: undefined,
        tlsServerName: undefined,
        insecureSkipTlsVerify: false,
        proxyUrl: undefined,
      },
      identity: undefined,
      authorization: { headers: () => of({}), rejected: () => {} },
      rate: { qps: 100, burst: 2 },
      eventRate: { qps: 0, burst: 1 },
      heartbeatDeadlineMs: 1_000,
      userAgent: "rxlet/test",
      clock,
      observer: {
        onRequest: () => {},
        onTurn: (method, host, waitedMs) => waits.push(`${method} ${host} ${waitedMs}`),
      },
    });
    const turn = (name: number) => concat(defer(() => lanes.podTurn()).pipe(ignoreElements()), of(String(name)));
    expectObservable(range(1, 4).pipe(map(turn), mergeAll())).toBe(expected);
    flush();
    close();
    expect(waits).toEqual([0, 0, 10, 20].map((ms) => `PATCH 127.0.0.1:6443 ${ms}`));
  }),
);
