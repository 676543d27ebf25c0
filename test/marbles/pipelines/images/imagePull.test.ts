import { defer, ignoreElements, map, merge, type Observable, of, switchMap, take, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { DEFAULT_IMAGE_PULL_POLICY } from "../../../../src/core/backoff.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { RegistryCredential } from "../../../../src/core/image/dockerConfig.ts";
import { ok } from "../../../../src/core/result.ts";
import * as cri from "../../../../src/gen/cri.ts";
import { createImagePulls, type ImageStep } from "../../../../src/pipelines/images/imagePull.ts";
import { NO_RECORDS } from "../../../../src/pipelines/images/pullRecords.ts";
import type { ImageService } from "../../../../src/ports/cri.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const CONFIG = { maxParallel: 1, qps: 0, burst: 0, backoff: DEFAULT_IMAGE_PULL_POLICY };

/** A registry whose pulls are the given sources, by image; those without one fail at once. */
function node(m: Marbles, pulls: Readonly<Record<string, Observable<unknown>>>, config: Partial<typeof CONFIG> = {}) {
  const present = new Set<string>();
  const asked: string[] = [];
  const telemetry = recordingTelemetry();
  const self = {
    present,
    /** Pulls as they were asked for: `<ms> <image> <pod>`. */
    asked,
    /** Values of the annotation `a` of the images asked for: status and pull alike. */
    annotations: new Set<string | undefined>(),
    telemetry,
    statusFails: false,
    credentials: [] as readonly RegistryCredential[],
    missing: [] as readonly string[],
    pullsKeepNothing: false,
    ensure: (image: string, uid = "u1", policy?: string): Observable<string> =>
      ask(image, uid, policy).pipe(map(short)),
    /** Messages of its events. */
    messages: (image: string): Observable<string> =>
      ask(image, "u1").pipe(map((step) => (step.kind === "event" ? step.event.message : ""))),
  };
  const service = {
    imageStatus: ({ image }: cri.ImageStatusRequest) =>
      defer(() => {
        self.annotations.add(image?.annotations["a"]);
        if (self.statusFails) return throwError(() => kubeletError("Unavailable", "down"));
        const name = image?.image ?? "";
        return of({ image: present.has(name) ? cri.Image.create({ id: `id of ${name}`, size: 7n }) : undefined });
      }),
    pullImage: ({ image, auth, sandboxConfig }: cri.PullImageRequest) =>
      defer(() => {
        const name = image?.image ?? "";
        self.annotations.add(image?.annotations["a"]);
        const asker = auth === undefined ? "" : ` as ${auth.username}`;
        asked.push(`${m.clock.monotonicMs()} ${name} ${sandboxConfig?.hostname ?? "no sandbox"}${asker}`);
        const pull =
          pulls[`${name}${asker}`] ?? pulls[name] ?? throwError(() => kubeletError("NotFound", `${name}: not found`));
        return pull.pipe(
          map(() => {
            if (!self.pullsKeepNothing) present.add(name);
            return { imageRef: name };
          }),
        );
      }),
  } as unknown as ImageService;
  const images = createImagePulls({ images: service, clock: m.clock, telemetry }, { ...CONFIG, ...config }, NO_RECORDS);
  const ask = (image: string, uid: string, policy?: string): Observable<ImageStep> => {
    const container = containerOf({ image, ...(policy === undefined ? {} : { imagePullPolicy: policy }) });
    const sandboxConfig = cri.PodSandboxConfig.create({ hostname: uid });
    const credentials = of(ok({ credentials: self.credentials, missing: self.missing }));
    return images.ensure({ pod: podOf({ uid, annotations: { a: uid } }), container, sandboxConfig, credentials });
  };
  return self;
}

function short(step: ImageStep): string {
  switch (step.kind) {
    case "event":
      return step.event.reason;
    case "ready":
      return step.image.id;
    case "failed":
      return step.retryAt === undefined ? step.error.reason : `${step.error.reason} until ${step.retryAt}`;
  }
}

/** The stream, begun at that instant. */
const at = <T>({ scheduler }: Marbles, ms: number, stream$: Observable<T>): Observable<T> =>
  timer(ms, scheduler).pipe(switchMap(() => stream$));

const APP = "registry.example/app:1";
const API = "registry.example/api:1";
const steps = { p: "Pulling", d: "Pulled", r: `id of ${APP}`, s: `id of ${API}`, f: "Failed", b: "BackOff" };

describe("createImagePulls: requests", () => {
  it(
    "carry the annotations of the pod",
    marbles((m) => {
      const pull = "    ---(x|)";
      const expected = "p--(dr|)";

      const world = node(m, { [APP]: m.cold(pull) });
      m.expectObservable(world.ensure(APP)).toBe(expected, steps);
      m.flush();
      expect([...world.annotations]).toEqual(["u1"]);
    }),
  );

  it(
    "observe how long a pull took",
    marbles((m) => {
      const pull = "    1500ms (x|)";
      const expected = "1s p 1499ms (dr|)";

      const world = node(m, { [APP]: m.cold(pull) });
      m.expectObservable(at(m, 1000, world.ensure(APP))).toBe(expected, steps);
      m.flush();
      expect([...world.telemetry.observations]).toEqual([
        ['kubelet_image_pull_duration_seconds{image_size_in_bytes="N/A"}', [1.5]],
      ]);
    }),
  );
});

describe("createImagePulls: policies", () => {
  const policies = [
    ["IfNotPresent", true, "(dr|)", 0],
    ["IfNotPresent", false, "p--(dr|)", 1],
    ["Always", true, "p--(dr|)", 1],
    ["Always", false, "p--(dr|)", 1],
    ["Never", true, "(dr|)", 0],
    ["Never", false, "(en|)", 0],
  ] as const;
  it.each(policies)("%s with the image present: %s", (policy, present, expected, pulls) => {
    marbles((m) => {
      const pull = "---(x|)";

      const world = node(m, { [APP]: m.cold(pull) });
      if (present) world.present.add(APP);
      m.expectObservable(world.ensure(APP, "u1", policy)).toBe(expected, {
        ...steps,
        e: "ErrImageNeverPull",
        n: "ErrImageNeverPull",
      });
      m.flush();
      expect(world.asked.length).toBe(pulls);
    })();
  });

  it(
    "refuses a name that is none, without asking anyone to pull it",
    marbles((m) => {
      const expected = "(ef|)";

      const world = node(m, {});
      m.expectObservable(world.ensure("No Name")).toBe(expected, { e: "InspectFailed", f: "InvalidImageName" });
      m.flush();
      expect(world.asked).toEqual([]);
    }),
  );

  it(
    "fails with ImageInspectError when the runtime cannot report whether it has the image",
    marbles((m) => {
      const expected = "(ei|)";

      const world = node(m, {});
      world.statusFails = true;
      m.expectObservable(world.ensure(APP)).toBe(expected, { e: "InspectFailed", i: "ImageInspectError" });
      m.flush();
      expect([...world.telemetry.samples].filter(([series]) => series.includes("ensure_image_requests"))).toEqual([
        [
          'kubelet_image_manager_ensure_image_requests_total{present_locally="unknown",pull_policy="ifnotpresent",pull_required="unknown"}',
          1,
        ],
      ]);
    }),
  );

  it(
    "counts an image that is missing after its pull as a failed pull",
    marbles((m) => {
      const pull = "    ---(x|)";
      const expected = "p--(fe|)";

      const world = node(m, { [APP]: m.cold(pull) });
      world.pullsKeepNothing = true;
      m.expectObservable(world.ensure(APP)).toBe(expected, { ...steps, e: "ErrImagePull until 10003" });
    }),
  );
});

describe("createImagePulls: sharing", () => {
  it(
    "shares one pull among all requests for the image, with the first one's sandbox",
    marbles((m) => {
      const pull = "          ------(x|)";
      const pullSubs = "      ^-----!";
      const expectedFirst = " p-----(dr|)";
      const expectedSecond = "---p--(dr|)";

      const pull$ = m.cold(pull);
      const world = node(m, { [APP]: pull$ });
      m.expectObservable(world.ensure(APP, "u1")).toBe(expectedFirst, steps);
      m.expectObservable(at(m, 3, world.ensure(APP, "u2"))).toBe(expectedSecond, steps);
      m.expectSubscriptions(pull$).toBe(pullSubs);
      m.flush();
      expect(world.asked).toEqual([`0 ${APP} u1`]);
    }),
  );

  it(
    "cancels the pull only with the last request",
    marbles((m) => {
      const pull = "         ----------(x|)";
      const pullSubs = "     ^---!";
      const firstUnsub = "   --!";
      const firstExpected = "p--";
      const lastUnsub = "    ----!";
      const lastExpected = " p----";

      const pull$ = m.cold(pull);
      const world = node(m, { [APP]: pull$ });
      m.expectObservable(world.ensure(APP, "u1"), firstUnsub).toBe(firstExpected, steps);
      m.expectObservable(world.ensure(APP, "u2"), lastUnsub).toBe(lastExpected, steps);
      m.expectSubscriptions(pull$).toBe(pullSubs);
    }),
  );

  it(
    "does not take the turn of another request when a waiting one is cancelled",
    marbles((m) => {
      const runningPull = "      -----(x|)";
      const nextPull = "         --(x|)";
      const nextPullSubs = "     -----^-!";
      const cancelledPull = "    -----(x|)";
      const expectedRunning = "  p----(dr|)";
      const unsub = "            ---!";
      const expectedCancelled = "p---";
      const expectedNext = "     p------(ds|)";

      const pulls = { [APP]: m.cold(runningPull), [API]: m.cold(nextPull) };
      const world = node(m, { ...pulls, "gone:1": m.cold(cancelledPull) });
      m.expectObservable(world.ensure(APP, "u1")).toBe(expectedRunning, steps);
      m.expectObservable(world.ensure("gone:1", "u2"), unsub).toBe(expectedCancelled, steps);
      m.expectObservable(world.ensure(API, "u3")).toBe(expectedNext, steps);
      m.expectSubscriptions(pulls[API]).toBe(nextPullSubs);
    }),
  );

  it(
    "fails for all waiting requests, each with a backoff of its own",
    marbles((m) => {
      const pull = "    ---#";
      const expected = "p--(fe|)";

      const world = node(m, { [APP]: m.cold(pull, {}, kubeletError("Unavailable", "registry is down")) });
      const values = { ...steps, e: "ErrImagePull until 10003" };
      m.expectObservable(world.ensure(APP, "u1")).toBe(expected, values);
      m.expectObservable(world.ensure(APP, "u2")).toBe(expected, values);
    }),
  );

  it(
    "passes the sandbox of the current request after a shared pull",
    marbles((m) => {
      const pull = "    -(x|)";
      const unsub = "   9ms !";
      const expected = "------|";

      const world = node(m, { [APP]: m.cold(pull) });
      const again$ = merge(
        at(m, 0, world.ensure(APP, "u1", "Always")),
        at(m, 1, world.ensure(APP, "u2", "Always")),
        at(m, 5, world.ensure(APP, "u3", "Always")),
      );
      m.expectObservable(again$.pipe(ignoreElements()), unsub).toBe(expected);
      m.flush();
      expect(world.asked).toEqual([`0 ${APP} u1`, `5 ${APP} u3`]);
    }),
  );
});

describe("createImagePulls: pace", () => {
  it(
    "reports the time of the pull without and with the wait",
    marbles((m) => {
      const firstPull = " 2s (x|)";
      const secondPull = "3s (x|)";
      const expected = "  5s |";

      const world = node(m, { "a:1": m.cold(firstPull), "b:1": m.cold(secondPull) });
      const said: string[] = [];
      const reported = (image: string) => world.messages(image).pipe(map((message) => void said.push(message)));
      m.expectObservable(merge(reported("a:1"), reported("b:1")).pipe(ignoreElements())).toBe(expected);
      m.flush();
      expect(said).toContain('Successfully pulled image "b:1" in 3s (5s including waiting). Image size: 7 bytes.');
    }),
  );

  const three = (m: Marbles) => {
    const pull = "--(x|)";

    return { "a:1": m.cold(pull), "b:1": m.cold(pull), "c:1": m.cold(pull) };
  };
  const ends = (world: ReturnType<typeof node>, names: readonly string[]) =>
    merge(...names.map((name, index) => world.ensure(name, `u${index}`).pipe(map(() => name))));

  it(
    "pulls one after the other when serialized",
    marbles((m) => {
      const expected = "------|";

      const world = node(m, three(m));
      m.expectObservable(ends(world, ["a:1", "b:1", "c:1"]).pipe(ignoreElements())).toBe(expected);
      m.flush();
      expect(world.asked).toEqual(["0 a:1 u0", "2 b:1 u1", "4 c:1 u2"]);
    }),
  );

  it(
    "waits ten minutes for a pull that hangs, then continues beside it",
    marbles((m) => {
      const hangingPull = "20m (x|)";
      const expected = "   20m |";

      const world = node(m, { ...three(m), "hangs:1": m.cold(hangingPull) });
      m.expectObservable(ends(world, ["hangs:1", "a:1", "b:1"]).pipe(ignoreElements())).toBe(expected);
      m.flush();
      expect(world.asked).toEqual(["0 hangs:1 u0", "600000 a:1 u1", "600002 b:1 u2"]);
    }),
  );

  it(
    "pulls as many at once as allowed when parallel",
    marbles((m) => {
      const expected = "----|";

      const world = node(m, three(m), { maxParallel: 2 });
      m.expectObservable(ends(world, ["a:1", "b:1", "c:1"]).pipe(ignoreElements())).toBe(expected);
      m.flush();
      expect(world.asked).toEqual(["0 a:1 u0", "0 b:1 u1", "2 c:1 u2"]);
    }),
  );

  it(
    "limits pulls to qps, after a burst",
    marbles((m) => {
      const expected = "402ms |";

      const world = node(m, three(m), { maxParallel: Number.POSITIVE_INFINITY, qps: 5, burst: 1 });
      m.expectObservable(ends(world, ["a:1", "b:1", "c:1"]).pipe(ignoreElements())).toBe(expected);
      m.flush();
      expect(world.asked).toEqual(["0 a:1 u0", "200 b:1 u1", "400 c:1 u2"]);
    }),
  );
});

describe("createImagePulls: backoff", () => {
  /** Tries at these instants, as `<ms> <what came of it>`. */
  function tries(m: Marbles, world: ReturnType<typeof node>, seconds: readonly number[]): readonly string[] {
    const log: string[] = [];
    const all$ = merge(
      ...seconds.map((s) => at(m, s * 1000, world.ensure(APP).pipe(map((said) => void log.push(`${s} ${said}`))))),
    );
    m.expectObservable(all$.pipe(ignoreElements())).toBe(`${Math.max(...seconds)}s |`);
    m.flush();
    return log;
  }

  it(
    "doubles from 10 s to 300 s, counted from each failure",
    marbles((m) => {
      const starts = [0, 10, 30, 70, 150, 310, 610, 910];
      const log = tries(m, node(m, {}), starts);
      expect(log.filter((line) => line.includes("ErrImagePull"))).toEqual([
        "0 ErrImagePull until 10000",
        "10 ErrImagePull until 30000",
        "30 ErrImagePull until 70000",
        "70 ErrImagePull until 150000",
        "150 ErrImagePull until 310000",
        "310 ErrImagePull until 610000",
        "610 ErrImagePull until 910000",
        "910 ErrImagePull until 1210000",
      ]);
    }),
  );

  it(
    "does not pull during the backoff, and reports its end",
    marbles((m) => {
      const world = node(m, {});
      expect(tries(m, world, [0, 4, 9])).toEqual([
        "0 Pulling",
        "0 Failed",
        "0 ErrImagePull until 10000",
        "4 BackOff",
        "4 ImagePullBackOff until 10000",
        "9 BackOff",
        "9 ImagePullBackOff until 10000",
      ]);
      expect(world.asked.length).toBe(1);
    }),
  );

  it(
    "starts afresh after a quiet time",
    marbles((m) => {
      const log = tries(m, node(m, {}), [0, 10, 30, 1_300]);
      expect(log.filter((line) => line.includes("ErrImagePull")).at(-1)).toBe("1300 ErrImagePull until 1310000");
    }),
  );

  it(
    "is each pod's and image's own",
    marbles((m) => {
      const expectedFirst = "     (pfe|)";
      const expectedOtherPod = "  ------(pfe|)";
      const expectedOtherImage = "-------(pfe|)";

      const world = node(m, {});
      const values = { ...steps, e: "ErrImagePull until 10000" };
      m.expectObservable(world.ensure(APP, "u1")).toBe(expectedFirst, values);
      m.expectObservable(at(m, 6, world.ensure(APP, "u2"))).toBe(expectedOtherPod, {
        ...values,
        e: "ErrImagePull until 10006",
      });
      m.expectObservable(at(m, 7, world.ensure(API, "u1"))).toBe(expectedOtherImage, {
        ...values,
        e: "ErrImagePull until 10007",
      });
    }),
  );

  it(
    "does not hold back an image that is there by now",
    marbles((m) => {
      const world = node(m, {});
      m.at(3_000, () => world.present.add(APP));
      expect(tries(m, world, [0, 4])).toEqual([
        "0 Pulling",
        "0 Failed",
        "0 ErrImagePull until 10000",
        "4 Pulled",
        `4 id of ${APP}`,
      ]);
    }),
  );

  it(
    "tries one credential after the other, and reports failures only when all fail",
    marbles((m) => {
      const pull = "    --(x|)";
      const expected = "p-(de|)";

      const known = node(m, {
        "a:1 as first": throwError(() => kubeletError("PermissionDenied", "no")),
        "a:1 as second": m.cold(pull),
      });
      known.credentials = [
        { username: "first", password: "1" },
        { username: "second", password: "2" },
      ];
      m.expectObservable(known.ensure("a:1")).toBe(expected, { p: "Pulling", d: "Pulled", e: "id of a:1" });
      m.flush();
      expect(known.asked).toEqual(["0 a:1 u1 as first", "0 a:1 u1 as second"]);
    }),
  );

  it(
    "reports the failure of every credential, each text once",
    marbles((m) => {
      const expected = "(pfx|)";

      const refusing = (text: string) => throwError(() => kubeletError("PermissionDenied", text));
      const known = node(m, { "a:1 as x": refusing("no"), "a:1 as y": refusing("never") });
      known.credentials = ["x", "y", "x"].map((username) => ({ username, password: "" }));
      m.expectObservable(known.messages("a:1")).toBe(expected, {
        p: 'Pulling image "a:1"',
        f: 'Failed to pull image "a:1": [no, never]',
        x: "",
      });
    }),
  );

  it(
    "does not share a pull between different credentials",
    marbles((m) => {
      const pull = "         -----(x|)";
      const expectedFirst = "p----(de|)";
      const expectedLate = " --p----(de|)";

      const known = node(m, { "a:1": m.cold(pull) }, { maxParallel: 2 });
      m.expectObservable(known.ensure("a:1")).toBe(expectedFirst, { p: "Pulling", d: "Pulled", e: "id of a:1" });
      m.at(1, () => (known.credentials = [{ username: "me", password: "" }]));
      const late$ = timer(2, m.scheduler).pipe(switchMap(() => known.ensure("a:1", "u2")));
      m.expectObservable(late$).toBe(expectedLate, { p: "Pulling", d: "Pulled", e: "id of a:1" });
      m.flush();
      expect(known.asked).toEqual(["0 a:1 u1", "2 a:1 u2 as me"]);
    }),
  );

  it(
    "pulls without missing pull secrets, and names them",
    marbles((m) => {
      const pull = "    (x|)";
      const expected = "(pm|)";

      const known = node(m, { "a:1": m.cold(pull) });
      known.missing = ["one", "two"];
      m.expectObservable(known.messages("a:1").pipe(take(2))).toBe(expected, {
        p: 'Pulling image "a:1"',
        m: "Unable to retrieve some image pull secrets (one, two); attempting to pull the image may not succeed.",
      });
    }),
  );
});
