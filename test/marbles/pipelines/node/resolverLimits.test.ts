/** Events about the node's resolver file: at start, and after a change that leaves a problem. */
import { defer, of, throwError } from "rxjs";
import { it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { KubeletEvent } from "../../../../src/core/events.ts";
import { resolverLimits } from "../../../../src/pipelines/node/resolverLimits.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { marbles } from "../../../support/marbles.ts";

const PATH = "/etc/resolv.conf";
const CONFIG = { nodeName: "n1", clusterDomain: "cluster.local", resolvConfPath: PATH };
const search = (domains: number): string =>
  `search ${Array.from({ length: domains }, (_, at) => `d${at}`).join(" ")}\n`;
const warning = (message: string): KubeletEvent => ({
  type: "Warning",
  reason: "CheckLimitsForResolvConf",
  message,
  object: { kind: "Node", namespace: "", name: "n1", uid: "", fieldPath: "" },
});
const TOO_MANY = warning(`Resolv.conf file '${PATH}' contains search line consisting of more than 29 domains!`);
const MISSING = warning(`open ${PATH}: no such file or directory`);

it(
  "reports a problem at start and after changes, not again for the same content",
  marbles(({ hot, clock, expectObservable, at }) => {
    const changes = "      9s c 9999ms c 9999ms c 9999ms c";
    const subscription = " ^ 45s !";
    const expected = "     t 9999ms m 19999ms t";

    let content: string | undefined = search(30);
    const files = {
      readTail: () =>
        defer(() => (content === undefined ? throwError(() => kubeletError("NotFound", "")) : of(content))),
    };
    at(8_000, () => (content = undefined));
    at(18_000, () => (content = search(29)));
    at(28_000, () => (content = search(30)));
    const changes$ = hot(changes);
    const networkChanges = { addresses$: of(), file: () => changes$ };
    const ports = { clock, rng: fixedRng(), files, networkChanges };
    const values = { t: TOO_MANY, m: MISSING };
    expectObservable(resolverLimits(ports as never, CONFIG), subscription).toBe(expected, values);
  }),
);

it(
  "finds a change that is not reported after five minutes",
  marbles(({ clock, expectObservable, at }) => {
    const subscription = "^ 301s !";
    const expected = "    300s t";

    let content = search(3);
    at(100_000, () => (content = search(30)));
    const networkChanges = { addresses$: of(), file: () => throwError(() => kubeletError("Io", "no inotify")) };
    const ports = { clock, rng: fixedRng(), files: { readTail: () => defer(() => of(content)) }, networkChanges };
    expectObservable(resolverLimits(ports as never, CONFIG), subscription).toBe(expected, { t: TOO_MANY });
  }),
);

it(
  "does not look when pods inherit nothing",
  marbles(({ clock, expectObservable }) => {
    const expected = "|";

    const ports = { clock, rng: fixedRng(), files: {}, networkChanges: {} };
    expectObservable(resolverLimits(ports as never, { ...CONFIG, resolvConfPath: "" })).toBe(expected);
  }),
);
