/**
 * Drivers of Dynamic Resource Allocation in virtual time. They register, go away, fail and hang on demand, and
 * remember which claims are prepared. Owns that state, which outlives the kubelet.
 */
import { BehaviorSubject, defer, NEVER, type Observable, Subject, switchMap, throwError, timer } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import type {
  Claim,
  Device,
  NodePrepareResourcesResponse,
  NodeUnprepareResourcesResponse,
  NodeWatchResourcesResponse,
} from "../../gen/dra.ts";
import { deadline } from "../../operators/deadline.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DraDriver, DraDriverMap, DraDrivers } from "../../ports/draDrivers.ts";

/** Fate of a call: an answer, an error of the call or of its claims, or nothing at all. */
export type SimDriverFate = "answer" | "fail" | "refuse" | "hang";

/** A call of the kubelet. */
export interface SimDriverCall {
  readonly atMs: number;
  readonly driver: string;
  readonly rpc: "prepare" | "unprepare";
  /** Names of the claims. */
  readonly claims: readonly string[];
}

export interface SimDraDrivers extends DraDrivers {
  /** Calls in the order in which they began. */
  readonly calls: readonly SimDriverCall[];
  /** Claims that are prepared, as `driver claim`, sorted. */
  readonly prepared: readonly string[];
  register(name: string): void;
  unregister(name: string): void;
  /** Sets whether the socket of the driver accepts connections. */
  connect(name: string, isConnected: boolean): void;
  /** Decides about the calls from now on; default: all are answered. */
  setFate(fate: (call: SimDriverCall) => SimDriverFate): void;
  /** Sends the health of devices to the kubelet that follows it. */
  sendHealth(name: string, health: NodeWatchResourcesResponse): void;
  /** Ends the health streams of a driver. */
  endHealth(name: string): void;
}

const DEADLINE_MS = 45_000;
const LATENCY_MS = 5;

/** CDI device that a driver gives to a claim. */
export const simCdiDevice = (driver: string, claim: string): string => `${driver}/device=${claim}`;

/** Creates the drivers; none is registered. `devicesOf` says which devices a driver gives to a claim; default: one. */
export function createSimDraDrivers(
  clock: Clock,
  devicesOf: (driver: string, claim: Claim) => readonly Device[] = oneDevice,
): SimDraDrivers {
  const registered = new BehaviorSubject<DraDriverMap>(new Map());
  const calls: SimDriverCall[] = [];
  const prepared = new Set<string>();
  const health = new Map<string, Subject<NodeWatchResourcesResponse>>();
  let fateOf: (call: SimDriverCall) => SimDriverFate = () => "answer";
  const healthOf = (name: string): Subject<NodeWatchResourcesResponse> => {
    const known = health.get(name) ?? new Subject();
    health.set(name, known);
    return known;
  };
  const call = <T>(
    driver: string,
    rpc: SimDriverCall["rpc"],
    claims: readonly Claim[],
    answer: (error: string) => T,
  ): Observable<T> =>
    defer(() => {
      const made = { atMs: clock.monotonicMs(), driver, rpc, claims: claims.map(({ name }) => name) };
      calls.push(made);
      return answered(clock, fateOf(made), answer);
    });
  const prepare = (driver: string, claims: readonly Claim[]) =>
    call(driver, "prepare", claims, (error): NodePrepareResourcesResponse => {
      if (error === "") for (const { name } of claims) prepared.add(`${driver} ${name}`);
      const of = (claim: Claim) => ({ devices: error === "" ? [...devicesOf(driver, claim)] : [], error });
      return { claims: Object.fromEntries(claims.map((claim) => [claim.uid, of(claim)])) };
    });
  const unprepare = (driver: string, claims: readonly Claim[]) =>
    call(driver, "unprepare", claims, (error): NodeUnprepareResourcesResponse => {
      if (error === "") for (const { name } of claims) prepared.delete(`${driver} ${name}`);
      return { claims: Object.fromEntries(claims.map(({ uid }) => [uid, { error }])) };
    });
  const driverOf = (name: string, isConnected: boolean): DraDriver => ({
    name,
    isConnected,
    prepare: (claims) => prepare(name, claims),
    unprepare: (claims) => unprepare(name, claims),
    health$: defer(() => healthOf(name)),
  });
  const put = (name: string, isConnected: boolean): void =>
    registered.next(new Map(registered.value).set(name, driverOf(name, isConnected)));
  return {
    follow: () => registered.asObservable(),
    calls,
    get prepared() {
      return [...prepared].sort();
    },
    register: (name) => put(name, true),
    unregister: (name) => registered.next(new Map([...registered.value].filter(([known]) => known !== name))),
    connect: put,
    setFate(fate) {
      fateOf = fate;
    },
    sendHealth: (name, sent) => healthOf(name).next(sent),
    endHealth(name) {
      const ended = healthOf(name);
      health.delete(name);
      ended.complete();
    },
  };
}

function answered<T>(clock: Clock, fate: SimDriverFate, answer: (error: string) => T): Observable<T> {
  const answered$ = timer(LATENCY_MS, clock.scheduler).pipe(
    switchMap(() => {
      if (fate === "fail") return throwError(() => kubeletError("Unavailable", "the driver is ill"));
      return [answer(fate === "refuse" ? "device is busy" : "")];
    }),
  );
  return (fate === "hang" ? NEVER : answered$).pipe(deadline(DEADLINE_MS, clock));
}

const oneDevice = (driver: string, { name }: Claim): readonly Device[] => [
  {
    requestNames: [],
    poolName: "pool",
    deviceName: name,
    cdiDeviceIds: [simCdiDevice(driver, name)],
    shareId: undefined,
  },
];
