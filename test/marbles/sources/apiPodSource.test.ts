import { map, NEVER } from "rxjs";
import { describe, expect, it } from "vitest";
import type { ApiObjects } from "../../../src/core/api/apiResources.ts";
import { type KubeletError, kubeletError } from "../../../src/core/errors.ts";
import type { SourceSnapshot } from "../../../src/core/pod/sourceSnapshot.ts";
import type { ApiListOptions, ApiServer, ApiWatchEvent } from "../../../src/ports/apiServer.ts";
import { apiPodSource } from "../../../src/sources/apiPodSource.ts";
import { fixedRng } from "../../support/fixedRng.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";
import { podOf } from "../../support/pods.ts";

type Pod = ApiObjects["pods"];

const AWAY = kubeletError("Unavailable", "connection refused");
const a = podOf({ name: "a", uid: "u-a" });
const b = podOf({ name: "b", uid: "u-b" });
const LINES: Readonly<Record<string, ApiWatchEvent<Pod>>> = {
  a: { type: "ADDED", object: a },
  b: { type: "ADDED", object: b },
  q: { type: "MODIFIED", object: { ...b, spec: { ...b.spec, containers: [] } } },
  d: { type: "DELETED", object: a },
  n: { type: "BOOKMARK", object: { metadata: { resourceVersion: "9" } } },
  e: {
    type: "BOOKMARK",
    object: { metadata: { resourceVersion: "2", annotations: { "k8s.io/initial-events-end": "true" } } },
  },
};
const shown = ({ pods, problems, ready }: SourceSnapshot): string =>
  [...pods.map(({ metadata }) => metadata.name), ...problems.map(({ field }) => `${field}!`), ready ?? ""]
    .join(" ")
    .trim();

/** The source against one watch after the other. */
function source({ cold, clock }: Marbles, watches: readonly string[]) {
  const silence = "-";

  const asked: (string | undefined)[] = [];
  const health: (string | undefined)[] = [];
  const api = {
    watch: (_resource: string, { fieldSelector }: ApiListOptions) => {
      asked.push(fieldSelector);
      return cold(watches[asked.length - 1] ?? silence, LINES, AWAY);
    },
    list: () => NEVER,
  } as unknown as ApiServer;
  const onHealth = (problem: KubeletError | undefined): void => void health.push(problem?.code);
  const snapshots$ = apiPodSource({ api, nodeName: "n-1", clock, rng: fixedRng(), onHealth }).pipe(map(shown));
  return { snapshots$, asked, health };
}

describe("apiPodSource", () => {
  it(
    "emits nothing before the initial list of pods, and then every change",
    marbles((helpers) => {
      const watch = "   a-b-e-d-";
      const unsub = "   - 7ms !";
      const expected = "----x-y-";

      const { snapshots$, asked } = source(helpers, [watch]);
      helpers.expectObservable(snapshots$, unsub).toBe(expected, { x: "a b", y: "b" });
      helpers.flush();
      expect(asked).toEqual(["spec.nodeName=n-1"]);
    }),
  );
  it(
    "keeps its pods while the server is unreachable, and reports that as health only",
    marbles((helpers) => {
      const firstWatch = " ae-#";
      const secondWatch = "-n-d-";
      const unsub = "      - 810ms !";
      const expected = "   -x 804ms y";

      const { snapshots$, health } = source(helpers, [firstWatch, secondWatch]);
      helpers.expectObservable(snapshots$, unsub).toBe(expected, { x: "a", y: "" });
      helpers.flush();
      expect(health).toEqual([undefined, "Unavailable", undefined, undefined]);
    }),
  );
  it(
    "keeps the last good form of a pod that can no longer be read, and names what is wrong",
    marbles((helpers) => {
      const watch = "   abe-q-d-";
      const unsub = "   - 7ms !";
      const expected = "--x-y-z-";

      const { snapshots$ } = source(helpers, [watch]);
      helpers
        .expectObservable(snapshots$, unsub)
        .toBe(expected, { x: "a b", y: "a b spec.containers!", z: "b spec.containers!" });
    }),
  );
  it(
    "emits an empty snapshot when the server has no pods for the node",
    marbles((helpers) => {
      const watch = "   e-";
      const unsub = "   -!";
      const expected = "x-";

      const { snapshots$ } = source(helpers, [watch]);
      helpers.expectObservable(snapshots$, unsub).toBe(expected, { x: "" });
    }),
  );

  it(
    "marks the state that it reads anew after a gap, and no other",
    marbles((helpers) => {
      const firstWatch = " ae-x";
      const secondWatch = "ab(e)";
      const unsub = "      - 900ms !";
      const expected = "   -a 803ms b";

      const GONE = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old" } };
      const lines = { ...LINES, x: GONE as unknown as ApiWatchEvent<Pod> };
      const watches = [firstWatch, secondWatch];
      const api = {
        watch: () => helpers.cold(watches.shift() ?? secondWatch, lines),
        list: () => NEVER,
      } as unknown as ApiServer;
      const { clock } = helpers;
      const marks$ = apiPodSource({ api, nodeName: "n-1", clock, rng: fixedRng() }).pipe(
        map((snapshot) => `${shown(snapshot)} ${snapshot.afterGap === true}`),
      );
      helpers.expectObservable(marks$, unsub).toBe(expected, { a: "a false", b: "a b true" });
    }),
  );
});
