/**
 * Device plugins in virtual time: they list their devices, whose health and number change, and prepare them for containers.
 * Own the devices, which outlive the kubelet. Each device has a CDI name, by which containers show it.
 */
import { concat, defer, filter, map, NEVER, type Observable, of, Subject, switchMap, takeUntil } from "rxjs";
import { tap, throwError, timer } from "rxjs";
import {
  AllocateResponse,
  type AllocateResponse as Allocated,
  ListAndWatchResponse,
  type ListAndWatchResponse as Listed,
} from "../../gen/devicePlugin.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DevicePlugins, PreferredRequest } from "../../ports/devicePlugins.ts";
import type { Prng } from "../prng.ts";
import type { UntimedObservation } from "../simObservation.ts";
import { PLUGIN_LATENCY_MS, pluginCall, pluginFailure, refusedCall, type SimPluginFaults } from "./pluginCall.ts";
import type { SimPluginProcess } from "./simPluginProcess.ts";

/** A device of a plugin. */
interface SimDevice {
  readonly id: string;
  readonly nodes: readonly number[];
  isHealthy: boolean;
  /** Whether the plugin names it. */
  isListed: boolean;
}

/** The resources of a simulated machine: some devices are near a NUMA node, some have no place. */
export const SIM_PLUGIN_RESOURCES = [
  { resource: "example.com/gpu", count: 4, nodesOf: (index: number) => [index < 2 ? 0 : 1] },
  { resource: "example.com/nic", count: 6, nodesOf: (index: number) => [index % 2] },
  { resource: "example.com/fpga", count: 3, nodesOf: () => [] },
] as const;

/** Returns the CDI name of a device. */
export const simDeviceName = (resource: string, id: string): string => `${resource}=${id}`;

/** Deadlines of the real port. */
const DEADLINES_MS = { options: 10_000, preferred: 10_000, allocate: 60_000, preStart: 30_000 };

export interface SimDevicePluginsOptions {
  readonly clock: Clock;
  readonly prng: Prng;
  readonly faults: SimPluginFaults;
  readonly processAt: (socket: string) => SimPluginProcess | undefined;
  see(observation: UntimedObservation): void;
}

export interface SimDevicePlugins {
  readonly calls: Omit<DevicePlugins, "serve">;
  /** Returns the number of devices of a resource. */
  count(resource: string): number;
  /** Changes devices of a resource, and lists them: they become ill, vanish from the list, or come back. */
  change(resource: string, prng: Prng): void;
  /** Makes all devices healthy and listed again. */
  heal(): void;
}

/** Parts that the calls of plugins share. */
interface Calling extends SimDevicePluginsOptions {
  readonly devices: ReadonlyMap<string, readonly SimDevice[]>;
  /** Emits a resource whose devices have changed. */
  readonly changes$: Observable<string>;
  /** Makes a call to the plugin behind a socket. */
  called<T>(socket: string, make: (process: SimPluginProcess) => Observable<T>): Observable<T>;
}

/** Creates the plugins' service. */
export function createSimDevicePlugins(options: SimDevicePluginsOptions): SimDevicePlugins {
  const devices = new Map<string, readonly SimDevice[]>(
    SIM_PLUGIN_RESOURCES.map(({ resource, count, nodesOf }) => [resource, devicesOf(resource, count, nodesOf)]),
  );
  const changes$ = new Subject<string>();
  const called: Calling["called"] = (socket, make) =>
    defer(() => {
      const process = options.processAt(socket);
      return process === undefined ? refusedCall(socket) : make(process);
    });
  return {
    calls: callsOf({ ...options, devices, changes$, called }),
    count: (resource) => devices.get(resource)?.length ?? 0,
    change(resource, draws) {
      for (const device of devices.get(resource) ?? []) {
        if (!draws.chance(0.5)) continue;
        device.isHealthy = draws.chance(0.6);
        device.isListed = draws.chance(0.8);
      }
      changes$.next(resource);
    },
    heal() {
      for (const [resource, all] of devices) {
        for (const device of all) {
          device.isHealthy = true;
          device.isListed = true;
        }
        changes$.next(resource);
      }
    },
  };
}

/** Time after which a plugin that has failed to list its devices starts again: the kubelet waits for its registration. */
const START_AGAIN_MS = 2_000;

/** Returns the lists of a plugin, until it dies. */
function listsOf({ clock, faults, devices, changes$, see }: Calling, process: SimPluginProcess): Observable<Listed> {
  const { name, died$, starts } = process;
  const startAgain = (): void => {
    if (process.isUp && process.starts === starts) process.start();
  };
  const listOf = (): Listed => listMessage(devices.get(name) ?? []);
  const updates$ = changes$.pipe(
    filter((resource) => resource === name),
    map(listOf),
  );
  const fate = faults("ListAndWatch", name);
  const listed$ = ((): Observable<Listed> => {
    if (fate.kind === "fail" || fate.kind === "loseReply") {
      clock.scheduler.schedule(startAgain, START_AGAIN_MS);
      return throwError(() => pluginFailure("no list"));
    }
    if (fate.kind === "hang") return NEVER;
    if (fate.kind === "lie") return concat(of(lyingList(listOf(), fate.which)), updates$);
    const dueMs = PLUGIN_LATENCY_MS + (fate.kind === "delay" ? fate.ms : 0);
    return timer(dueMs, clock.scheduler).pipe(switchMap(() => concat(of(listOf()), updates$)));
  })();
  return listed$.pipe(
    tap(({ devices: listed }) => {
      see({ kind: "plugin", resource: name, what: "lists", ids: listed.map(({ ID }) => ID) });
    }),
    takeUntil(died$),
  );
}

function callsOf(calling: Calling): SimDevicePlugins["calls"] {
  const { clock, prng, faults, devices, called, see } = calling;
  const wishesOf = (resource: string) => {
    const own = prng.fork(`options of ${resource}`);
    return { preStartRequired: own.chance(0.5), getPreferredAllocationAvailable: own.chance(0.5) };
  };
  return {
    listAndWatch: (socket) => called(socket, (process) => listsOf(calling, process)),
    options: (socket) =>
      called(socket, ({ name, died$ }) => {
        const answer = () => wishesOf(name);
        const fate = faults("GetDevicePluginOptions", name);
        return pluginCall({ clock, fate, deadlineMs: DEADLINES_MS.options, died$, answer, lie: answer });
      }),
    preferred: (socket, request) =>
      called(socket, ({ name, died$ }) => {
        const fate = faults("GetPreferredAllocation", name);
        const answer = (deviceIDs: readonly string[]) => ({ containerResponses: [{ deviceIDs }] });
        const chosen = chosenOf(request);
        return pluginCall({
          ...{ clock, fate, deadlineMs: DEADLINES_MS.preferred, died$ },
          answer: () => answer(chosen),
          lie: (which) => answer(lyingChoice(request, chosen, which)),
        });
      }),
    allocate: (socket, ids) =>
      called(socket, ({ name, died$ }) => {
        see({ kind: "plugin", resource: name, what: "allocate", ids });
        const known = new Set((devices.get(name) ?? []).flatMap(({ id, isListed }) => (isListed ? [id] : [])));
        const fate = ids.every((id) => known.has(id)) ? faults("Allocate", name) : ({ kind: "fail" } as const);
        return pluginCall<Allocated>({
          ...{ clock, fate, deadlineMs: DEADLINES_MS.allocate, died$ },
          answer: () => allocated(name, ids),
          lie: (which) => lyingAllocation(which),
        });
      }),
    preStart: (socket, ids) =>
      called(socket, ({ name, died$ }) => {
        see({ kind: "plugin", resource: name, what: "preStart", ids });
        const fate = faults("PreStartContainer", name);
        const answer = () => ({});
        return pluginCall<unknown>({ clock, fate, deadlineMs: DEADLINES_MS.preStart, died$, answer, lie: answer });
      }),
  };
}

/** Returns the last of the available devices, after those that must be among them. */
const chosenOf = ({ available, mustInclude, size }: PreferredRequest): readonly string[] =>
  [...mustInclude, ...available.filter((id) => !mustInclude.includes(id)).toReversed()].slice(0, size);

/** Returns no device, an unknown one, too many, or one several times. */
function lyingChoice({ available }: PreferredRequest, chosen: readonly string[], which: number): readonly string[] {
  const lies = [[], ["no such device"], available, chosen.map(() => chosen[0] ?? "")];
  return lies[which % lies.length] ?? [];
}

const devicesOf = (resource: string, count: number, nodesOf: (index: number) => readonly number[]): SimDevice[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `${resource.slice(resource.indexOf("/") + 1)}-${index}`,
    nodes: nodesOf(index),
    isHealthy: true,
    isListed: true,
  }));

const listMessage = (devices: readonly SimDevice[]): Listed =>
  ListAndWatchResponse.fromPartial({
    devices: devices
      .filter(({ isListed }) => isListed)
      .map(({ id, nodes, isHealthy }) => ({
        ID: id,
        health: isHealthy ? "Healthy" : "Unhealthy",
        ...(nodes.length === 0 ? {} : { topology: { nodes: nodes.map((node) => ({ ID: BigInt(node) })) } }),
      })),
  });

/** Returns a list with an id that no device can have, one with each device twice, or an empty one. */
function lyingList({ devices }: Listed, which: number): Listed {
  const [first] = devices;
  const lies = [first === undefined ? [] : [...devices, { ...first, ID: "" }], [...devices, ...devices], []];
  return { devices: lies[which % lies.length] ?? [] };
}

const allocated = (resource: string, ids: readonly string[]): Allocated =>
  AllocateResponse.fromPartial({
    containerResponses: [
      {
        envs: { [`DEVICES_OF_${resource.toUpperCase()}`]: ids.join() },
        devices: ids.map((id) => ({ containerPath: `/dev/${id}`, hostPath: `/dev/${id}`, permissions: "rw" })),
        cdiDevices: ids.map((id) => ({ name: simDeviceName(resource, id) })),
      },
    ],
  });

const LONGEST_TEXT = 64 * 1024;

/** Returns an answer without a container, or one that is too large. */
const lyingAllocation = (which: number): Allocated =>
  AllocateResponse.fromPartial({
    containerResponses: which % 2 === 0 ? [] : [{ envs: { HUGE: "x".repeat(LONGEST_TEXT + 1) } }],
  });
