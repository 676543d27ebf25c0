import { defer, map, type Observable, of, switchMap, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { encodeBase64 } from "../../../../src/core/base64.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { createRegistryCredentials } from "../../../../src/pipelines/images/registryCredentials.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

type Deps = Parameters<typeof createRegistryCredentials>[0];
const base64 = (text: string): string => encodeBase64(new TextEncoder().encode(text));
const auths = (user: string) => ({ "registry.example": { auth: base64(`${user}:secret`) } });
const configJson = (user: string): string => JSON.stringify({ auths: auths(user) });
const dockercfg = (user: string): string => JSON.stringify(auths(user));

/** A node with these docker files, and the pull secret `known` of the namespace `demo`. */
function node(m: Marbles, files: Readonly<Record<string, string>>, plugins: readonly string[] = []) {
  const telemetry = recordingTelemetry();
  const reads: string[] = [];
  const readTail = (path: string, maxBytes: number, links?: string) =>
    defer(() => {
      reads.push(`${m.clock.monotonicMs()} ${path} ${maxBytes} ${links ?? ""}`);
      const text = files[path];
      return text === undefined ? throwError(() => kubeletError("NotFound", "none")) : of(text);
    });
  const secret = {
    metadata: { name: "known", namespace: "demo", uid: "s" },
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": base64(configJson("of-secret")) },
  };
  const find = createRegistryCredentials({
    ports: { clock: m.clock, telemetry, files: { readTail } } as unknown as Deps["ports"],
    places: { configJson: ["/one/config.json", "/two/config.json"], dockercfg: ["/three/.dockercfg"] },
    objects: {
      read: () =>
        of({
          secret: (namespace: string, name: string) => (`${namespace}/${name}` === "demo/known" ? secret : undefined),
        }),
    } as unknown as Deps["objects"],
    askPlugins: () =>
      of(plugins.map((user) => new Map([["registry.example", { username: user, password: "secret" }]]))),
  });
  const usersOf = (image: string, ...secrets: readonly string[]): Observable<string> =>
    find(podOf({ spec: { imagePullSecrets: secrets.map((name) => ({ name })) } }), containerOf({ image })).pipe(
      map((found) => {
        if (!found.ok) return found.error.message;
        const { credentials, missing } = found.value;
        return [...credentials.map(({ username }) => username), ...missing.map((name) => `without ${name}`)].join(", ");
      }),
    );
  const later = (ms: number, users$: Observable<string>) => timer(ms, m.scheduler).pipe(switchMap(() => users$));
  return { usersOf, later, reads, telemetry };
}

const APP = "registry.example/app:1";

describe("credentials of a pull", () => {
  it.each<[title: string, files: Readonly<Record<string, string>>, users: string]>([
    ["nothing without files", {}, ""],
    ["the first config.json", { "/one/config.json": configJson("one"), "/two/config.json": configJson("two") }, "one"],
    ["the second config.json without the first", { "/two/config.json": configJson("two") }, "two"],
    ["a .dockercfg without any config.json", { "/three/.dockercfg": dockercfg("three") }, "three"],
    [
      "config.json rather than .dockercfg",
      { "/two/config.json": configJson("two"), "/three/.dockercfg": dockercfg("x") },
      "two",
    ],
  ])("are %s", (_, files, users) =>
    marbles((m) => {
      const expected = "(u|)";

      m.expectObservable(node(m, files).usersOf(APP)).toBe(expected, { u: users });
    })(),
  );

  it(
    "are those of pull secrets, then of files, then of plugins, and name the missing secrets",
    marbles((m) => {
      const expected = "(u|)";

      const { usersOf } = node(m, { "/one/config.json": configJson("one") }, ["plugin"]);
      const users = "of-secret, one, plugin, without none";
      m.expectObservable(usersOf(APP, "known", "none")).toBe(expected, { u: users });
    }),
  );

  it(
    "are none for another registry",
    marbles((m) => {
      const expected = "(u|)";

      const { usersOf } = node(m, { "/one/config.json": configJson("one") }, ["plugin"]);
      m.expectObservable(usersOf("other.example/app:1", "known")).toBe(expected, { u: "" });
    }),
  );

  it(
    "are not read for an image without a name",
    marbles((m) => {
      const expected = "(u|)";

      const { usersOf, reads } = node(m, {});
      m.expectObservable(usersOf("No Name")).toBe(expected, { u: expect.stringContaining("No Name") });
      m.flush();
      expect(reads).toEqual([]);
    }),
  );

  it(
    "leave out a file that is malformed, which is logged",
    marbles((m) => {
      const expected = "(u|)";

      const { usersOf, telemetry } = node(m, { "/one/config.json": "{", "/two/config.json": configJson("two") });
      m.expectObservable(usersOf(APP)).toBe(expected, { u: "two" });
      m.flush();
      expect(telemetry.lines.map(({ level, message, fields }) => [level, message, fields["path"]])).toEqual([
        ["error", "Cannot use a file of registry credentials", "/one/config.json"],
      ]);
    }),
  );

  it(
    "are read from at most a mebibyte of each file, links followed",
    marbles((m) => {
      const expected = "(u|)";

      const { usersOf, reads } = node(m, { "/one/config.json": configJson("one") });
      m.expectObservable(usersOf(APP)).toBe(expected, { u: "one" });
      m.flush();
      const files = ["/one/config.json", "/two/config.json", "/three/.dockercfg"];
      expect(reads).toEqual(files.map((path) => `0 ${path} 1048576 followed`));
    }),
  );

  it(
    "are kept for five minutes",
    marbles((m) => {
      const { usersOf, later, reads } = node(m, { "/one/config.json": configJson("one") });
      for (const ms of [10, 300_009, 300_010]) {
        m.expectObservable(later(ms, usersOf(APP))).toBe(`${ms}ms (u|)`, { u: "one" });
      }
      m.flush();
      expect([...new Set(reads.map((read) => read.split(" ")[0]))]).toEqual(["10", "300010"]);
    }),
  );
});
