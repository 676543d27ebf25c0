import { defer, map, NEVER, type Observable, of, switchMap, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { CredentialProvider } from "../../../../src/core/image/credentialProviderConfig.ts";
import { createCredentialPlugins } from "../../../../src/pipelines/images/credentialPlugins.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const API = "credentialprovider.kubelet.k8s.io/v1";
const PROVIDER: CredentialProvider = {
  name: "ecr",
  matchImages: ["registry.example"],
  defaultCacheMs: 60_000,
  apiVersion: API,
  args: [],
  env: {},
  tokenAttributes: undefined,
};
const IMAGE = "registry.example/app";

type Answer = { readonly cacheKeyType: string; readonly cacheDuration?: string };

/** Plugins that answer after 10 ms with a user named after how often they were run. */
function plugins(m: Marbles, providers: readonly CredentialProvider[] = [PROVIDER]) {
  const telemetry = recordingTelemetry();
  const self = {
    telemetry,
    runs: [] as string[],
    answer: { cacheKeyType: "Image" } as Answer | "fails" | "hangs",
    /** Asks at an instant; users in order. */
    at: (ms: number, image = IMAGE): Observable<string> =>
      timer(ms, m.scheduler).pipe(
        switchMap(() => ask(podOf({}), image)),
        map((found) => found.flatMap((each) => [...each.values()].map(({ username }) => username)).join(" ")),
      ),
  };
  const run = ({ name }: { readonly name: string }, request: string) =>
    defer(() => {
      const { image } = JSON.parse(request) as { image: string };
      self.runs.push(`${m.clock.monotonicMs()} ${name} ${image}`);
      const username = `${name}-${self.runs.length}`;
      if (self.answer === "hangs") return NEVER;
      if (self.answer === "fails") return throwError(() => kubeletError("Io", "exit status 1"));
      const auth = { "registry.example": { username, password: "p" } };
      const response = { kind: "CredentialProviderResponse", apiVersion: API, ...self.answer, auth };
      return timer(10, m.scheduler).pipe(switchMap(() => of(JSON.stringify(response))));
    });
  const ports = { clock: m.clock, telemetry, credentialPlugins: { run }, api: undefined };
  const ask = createCredentialPlugins({ providers, ports, tokens: undefined });
  return self;
}

describe("credential plugins", () => {
  it(
    "run once for concurrent requests",
    marbles((m) => {
      const expected = "10ms (a|)";

      const world = plugins(m);
      m.expectObservable(world.at(0)).toBe(expected, { a: "ecr-1" });
      m.expectObservable(world.at(5)).toBe(expected, { a: "ecr-1" });
      m.flush();
      expect(world.runs).toEqual([`0 ecr ${IMAGE}`]);
    }),
  );

  it(
    "do not run again while the response is cached",
    marbles((m) => {
      const expectedFirst = "  10ms (a|)";
      const expectedCached = " 60010ms (a|)";
      const expectedExpired = "60021ms (a|)";

      const world = plugins(m);
      m.expectObservable(world.at(0)).toBe(expectedFirst, { a: "ecr-1" });
      m.expectObservable(world.at(60_010)).toBe(expectedCached, { a: "ecr-1" });
      m.expectObservable(world.at(60_011)).toBe(expectedExpired, { a: "ecr-2" });
      m.flush();
      expect(world.runs).toEqual([`0 ecr ${IMAGE}`, `60011 ecr ${IMAGE}`]);
    }),
  );

  it(
    "are run for each image when the answer is for an image",
    marbles((m) => {
      const expectedFirst = "10ms (a|)";
      const expectedOther = "110ms (a|)";

      const world = plugins(m);
      m.expectObservable(world.at(0)).toBe(expectedFirst, { a: "ecr-1" });
      m.expectObservable(world.at(100, "registry.example/b")).toBe(expectedOther, { a: "ecr-2" });
    }),
  );

  it(
    "are run once for all images of a registry when the answer is for the registry",
    marbles((m) => {
      const expectedFirst = "  10ms (a|)";
      const expectedOther = "  200ms (a|)";
      const expectedExpired = "1210ms (a|)";

      const world = plugins(m);
      world.answer = { cacheKeyType: "Registry", cacheDuration: "1s" };
      m.expectObservable(world.at(0)).toBe(expectedFirst, { a: "ecr-1" });
      m.expectObservable(world.at(200, "registry.example/b")).toBe(expectedOther, { a: "ecr-1" });
      m.expectObservable(world.at(1_200, "registry.example/b")).toBe(expectedExpired, { a: "ecr-2" });
    }),
  );

  it(
    "are run each time when the answer is not to be kept",
    marbles((m) => {
      const expectedFirst = " 10ms (a|)";
      const expectedSecond = "30ms (a|)";

      const world = plugins(m);
      world.answer = { cacheKeyType: "Global", cacheDuration: "0s" };
      m.expectObservable(world.at(0)).toBe(expectedFirst, { a: "ecr-1" });
      m.expectObservable(world.at(20)).toBe(expectedSecond, { a: "ecr-2" });
    }),
  );

  const THREE = [
    PROVIDER,
    { ...PROVIDER, name: "gcr", matchImages: ["gcr.example"] },
    { ...PROVIDER, name: "all", matchImages: ["*.example"] },
  ];

  it(
    "that are for the image answer in their order",
    marbles((m) => {
      const expected = "10ms (a|)";

      const world = plugins(m, THREE);
      m.expectObservable(world.at(0)).toBe(expected, { a: "ecr-1 all-2" });
    }),
  );

  it(
    "do not run for an image of another registry",
    marbles((m) => {
      const expected = "(a|)";

      const world = plugins(m, THREE);
      m.expectObservable(world.at(0, "docker.io/library/busybox")).toBe(expected, { a: "" });
      m.flush();
      expect(world.runs).toEqual([]);
    }),
  );

  it(
    "observe how long they took",
    marbles((m) => {
      const expected = "10ms (a|)";

      const world = plugins(m);
      m.expectObservable(world.at(0)).toBe(expected, { a: "ecr-1" });
      m.flush();
      expect(
        world.telemetry.observations.get('kubelet_credential_provider_plugin_duration{plugin_name="ecr"}'),
      ).toEqual([0.01]);
    }),
  );

  it(
    "that fail have no credentials, which is logged and counted",
    marbles((m) => {
      const expected = "(a|)";

      const world = plugins(m);
      world.answer = "fails";
      m.expectObservable(world.at(0)).toBe(expected, { a: "" });
      m.flush();
      const [line] = world.telemetry.lines;
      expect([line?.message, (line?.fields["error"] as Error).message]).toEqual([
        "Failed getting credential from external registry credential provider",
        "error execing credential provider plugin ecr: exit status 1",
      ]);
      expect(Object.fromEntries(world.telemetry.samples)).toEqual({
        'kubelet_credential_provider_plugin_errors_total{plugin_name="ecr"}': 1,
        'kubelet_credential_provider_plugin_duration{plugin_name="ecr"} observed': 1,
      });
    }),
  );

  it(
    "are cancelled after a minute",
    marbles((m) => {
      const expected = "60s (a|)";

      const world = plugins(m);
      world.answer = "hangs";
      m.expectObservable(world.at(0)).toBe(expected, { a: "" });
    }),
  );

  it(
    "whose answer is none have no credentials",
    marbles((m) => {
      const expected = "10ms (a|)";

      const world = plugins(m);
      world.answer = { cacheKeyType: "Sometimes" };
      m.expectObservable(world.at(0)).toBe(expected, { a: "" });
      m.flush();
      expect((world.telemetry.lines[0]?.fields["error"] as Error).message).toBe(
        'credential provider plugin did not return a valid cacheKeyType: "Sometimes"',
      );
    }),
  );
});
