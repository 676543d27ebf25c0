/**
 * Registration of simulated plugins with the kubelet of the moment, at its socket or by sockets in the directory of plugins.
 * A plugin that is refused offers the versions of the kubelet at its next attempt, as after an update. Owns who serves at the
 * kubelet's socket. Bound: one pending attempt per start of a plugin.
 */
import { defer, Observable, of, Subject, type Subscription } from "rxjs";
import type { RegisterRequest } from "../../gen/devicePlugin.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DevicePlugins, DeviceRegistration } from "../../ports/devicePlugins.ts";
import type { Plugins } from "../../ports/plugins.ts";
import type { Prng } from "../prng.ts";
import { pluginCall, refusedCall, type SimPluginFaults } from "./pluginCall.ts";
import { GOOD_VERSIONS, type SimPluginProcess } from "./simPluginProcess.ts";

const SERVING_MS = 1;
/** Latest attempt of a plugin at a new socket of the kubelet. */
const LATEST_MS = 2_000;
const AGAIN_MS = 5_000;
const CALL_MS = 10_000;

export interface SimRegistrationOptions {
  readonly clock: Clock;
  readonly prng: Prng;
  readonly faults: SimPluginFaults;
  readonly processes: () => readonly SimPluginProcess[];
}

export interface SimRegistration {
  readonly serve: DevicePlugins["serve"];
  readonly plugins: Plugins;
  /** Notes that a process started or ended. */
  changed(process: SimPluginProcess): void;
}

/** The kubelet's socket while it is served. */
interface Served {
  register(request: RegisterRequest, socket: string): string | undefined;
}

/** Creates the registration. */
export function createSimRegistration(options: SimRegistrationOptions): SimRegistration {
  const { clock, prng, processes } = options;
  const hints$ = new Subject<void>();
  let served: Served | undefined;
  const later: Later = (ms, action) => clock.scheduler.schedule(action, ms);
  const registerSoon = (process: SimPluginProcess): void => {
    const { starts } = process;
    const place = served;
    const delayMs = prng.fork(`${process.name} ${starts}`).int(1, LATEST_MS);
    if (place === undefined || process.way !== "kubelet.sock") return;
    later(delayMs, () => {
      if (!process.isUp || process.starts !== starts || served !== place) return;
      const refusal = place.register(requestOf(process), process.endpoint);
      if (refusal !== undefined) refused(process, later);
    });
  };
  const serve: DevicePlugins["serve"] = (refusalOf) =>
    new Observable<DeviceRegistration>((subscriber) => {
      const place: Served = {
        register(request, socket) {
          const refusal = refusalOf(request);
          if (refusal === undefined) {
            subscriber.next({ kind: "registered", resource: request.resourceName, socket });
          }
          return refusal;
        },
      };
      const due = later(SERVING_MS, () => {
        served = place;
        subscriber.next({ kind: "serving" });
        for (const process of processes()) if (process.isUp) registerSoon(process);
      });
      return () => {
        due.unsubscribe();
        if (served === place) served = undefined;
      };
    });
  return {
    serve,
    plugins: { sockets: { changes$: hints$, list: () => listing(processes) }, registration: ofSockets(options, later) },
    changed(process) {
      hints$.next();
      if (process.isUp) registerSoon(process);
    },
  };
}

type Later = (ms: number, action: () => void) => Subscription;

/** A refused plugin starts again with versions that the kubelet has. */
function refused(process: SimPluginProcess, later: Later): void {
  const { starts } = process;
  later(AGAIN_MS, () => {
    if (process.isUp && process.starts === starts) process.start({ versions: GOOD_VERSIONS[process.type] });
  });
}

const listing = (processes: () => readonly SimPluginProcess[]) =>
  defer(() => {
    const present = processes().filter(({ hasRegistrationSocket }) => hasRegistrationSocket);
    const sockets = present.map(({ registrationSocket, starts }) => ({
      path: registrationSocket,
      identity: String(starts),
    }));
    return of({ sockets, unread: [] });
  });

/** Returns the registration service behind each socket in the directory of plugins. */
function ofSockets({ clock, faults, processes }: SimRegistrationOptions, later: Later): Plugins["registration"] {
  const called = <T>(path: string, make: (process: SimPluginProcess) => Observable<T>): Observable<T> =>
    defer(() => {
      const process = processes().find((it) => it.hasRegistrationSocket && it.registrationSocket === path);
      return process?.isUp === true ? make(process) : refusedCall(path);
    });
  return {
    getInfo: (path) =>
      called(path, ({ type, name, endpoint, versions, died$ }) => {
        const told = { type: type as string, name, endpoint, supportedVersions: versions };
        const lies = [
          { ...told, type: "NoPlugin" },
          { ...told, name: "" },
          { ...told, supportedVersions: [] },
        ];
        return pluginCall({
          ...{ clock, fate: faults("GetInfo", name), deadlineMs: CALL_MS, died$ },
          answer: () => told,
          lie: (which) => lies[which % lies.length] ?? told,
        });
      }),
    notify: (path, { pluginRegistered }) =>
      called(path, (process) => {
        const { name, versions, died$ } = process;
        const isWrong = !versions.some((each) => GOOD_VERSIONS[process.type].some((it) => it === each));
        if (!pluginRegistered && isWrong) refused(process, later);
        const answer = () => ({});
        const fate = faults("NotifyRegistrationStatus", name);
        return pluginCall<unknown>({ clock, fate, deadlineMs: CALL_MS, died$, answer, lie: answer });
      }),
  };
}

const requestOf = ({ name, endpoint, versions }: SimPluginProcess): RegisterRequest => ({
  version: versions[0] ?? "",
  endpoint: endpoint.slice(endpoint.lastIndexOf("/") + 1),
  resourceName: name,
  options: undefined,
});
