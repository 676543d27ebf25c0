/**
 * Keeps the chains and rules of core/network/utilChains.ts in iptables, for both families, and restores them after a flush.
 * The only writer of them in the kubelet. A flush is noticed at once where the system reports deletions, and at the next
 * look at the canary otherwise. Bounds: one call of a family at a time, a look per minute, a restart after failures with a
 * backoff of a minute at most, a reaction to reports each REPORT_MS. Upstream: initNetworkUtil of
 * pkg/kubelet/kubelet_network_linux.go, and Monitor of pkg/util/iptables.
 *
 *     usable? --> set up --> look at the canary, each minute or after a report
 *                  ^   |          | there: nothing, each tenth time set up
 *                  +---+          | gone: wait until the flush has ended, then set up
 *             backoff, failed     v
 *
 * Differs from upstream: a failure at start is tried again, reports of the system are heeded, and rules that vanish while
 * the canary stays come back at every tenth look.
 */
import {
  auditTime,
  catchError,
  concat,
  defaultIfEmpty,
  defer,
  EMPTY,
  filter,
  forkJoin,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  share,
  switchMap,
  take,
  tap,
  throttleTime,
  toArray,
} from "rxjs";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import {
  CANARY,
  CANARY_TABLES,
  type ChainStep,
  type IpFamily,
  type MarkBits,
  utilChainSteps,
} from "../../core/network/utilChains.ts";
import { backoffDelay } from "../../operators/backoffDelay.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { orElse } from "../../operators/orElse.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import { reconcile } from "../../operators/reconcile.ts";
import { supervise } from "../../operators/supervise.ts";
import type { IpTables, UsableFamily } from "../../ports/ipTables.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

const FAMILIES = ["IPv4", "IPv6"] as const satisfies readonly IpFamily[];
/** Upstream's period. */
const LOOK_MS = 60_000;
const LOOKS_PER_SET_UP = 10;
const BACKOFF = { initialMs: 1_000, maxMs: LOOK_MS, jitter: 0.1 };
/** A flush deletes chain after chain: its first report waits this long for the others. */
const GATHER_MS = 1_000;
const REPORT_MS = 10_000;
/** Upstream waits as long for a flush to end, and looks more often. */
const FLUSH_MS = 5_000;
const FLUSH_LOOK_MS = 500;
const REPORTS_BACKOFF = { initialMs: 1_000, maxMs: 10 * 60_000, jitter: 0.1, resetAfterMs: 60_000 };

type Ports = Pick<KubeletPorts, "clock" | "rng" | "telemetry" | "ipTables">;

/** Runs while subscribed; does nothing without the port or when the configuration says so. Never emits, never errors. */
export function utilChains(ports: Ports, { utilChains: bits }: Pick<KubeletConfig, "utilChains">): Observable<never> {
  const { ipTables, telemetry } = ports;
  if (ipTables === undefined || bits === undefined) return EMPTY;
  return forkJoin(FAMILIES.map((family) => usable(ipTables, family))).pipe(
    switchMap((found) => {
      const families = FAMILIES.filter((_family, index) => found[index]?.isUsable !== false);
      reportMissing(telemetry, found);
      const reports$ = deletions(ipTables, ports).pipe(share());
      return merge(...families.map((family) => keepChains({ ...ports, ipTables, family, bits, reports$ })));
    }),
  );
}

/** A family that cannot be asked now counts as usable: its set-up is tried again. */
const usable = (ipTables: IpTables, family: IpFamily): Observable<UsableFamily> =>
  ipTables.isUsable(family).pipe(
    defaultIfEmpty<UsableFamily, UsableFamily>({ isUsable: true }),
    catchError((thrown: unknown) => {
      const { code, message } = toKubeletError(thrown);
      return of<UsableFamily>(code === "NotFound" ? { isUsable: false, reason: message } : { isUsable: true });
    }),
  );

function reportMissing({ log }: Ports["telemetry"], found: readonly UsableFamily[]): void {
  const missing = found.flatMap((one, index) => (one.isUsable ? [] : [{ ...one, protocol: FAMILIES[index] }]));
  if (missing.length === FAMILIES.length) {
    const reason = missing[0]?.reason;
    log.info("No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain", { reason });
    return;
  }
  for (const { protocol, reason } of missing) {
    log.info("No iptables support for one protocol; not creating its KUBE-IPTABLES-HINT chain", { protocol, reason });
  }
}

/** Emits some time after chains were deleted. Never errors. */
function deletions({ deletions$ }: IpTables, { clock, rng, telemetry }: Ports): Observable<unknown> {
  let said: string | undefined;
  // Reports that a system does not have are over for good.
  const reports$ = supervise("iptables deletions", () => concat(deletions$, NEVER), {
    ...{ backoff: REPORTS_BACKOFF, clock, rng },
    onRestart({ error }) {
      if (error.message !== said)
        telemetry.log.debug("utilChains", "Cannot watch iptables; looking each minute", { error });
      said = error.message;
    },
  });
  return reports$.pipe(
    auditTime(GATHER_MS, clock.scheduler),
    throttleTime(REPORT_MS, clock.scheduler, { leading: true, trailing: true }),
  );
}

interface Keeper extends Ports {
  readonly ipTables: IpTables;
  readonly family: IpFamily;
  readonly bits: MarkBits;
  readonly reports$: Observable<unknown>;
}

/** A step that failed, in upstream's words. */
interface Failure {
  readonly step: string;
  readonly error: KubeletError;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Keeps the chains of one family. Owns what it knows of them. */
function keepChains(keeper: Keeper): Observable<never> {
  const { ipTables, family, bits, reports$, clock, rng } = keeper;
  const log = keeper.telemetry.log.with({ protocol: family });
  let isSetUp = false;
  let isReported = false;
  let failures = 0;
  let looks = 0;
  let said: string | undefined;
  const failed = ({ step, error, fields = {} }: Failure): void => {
    if (error.message !== said) log.error(step, { error, ...fields });
    if (failures === 0 && !isSetUp) {
      log.warn("Failed to initialize iptables rules; some functionality may be missing.");
    }
    said = error.message;
    isSetUp = false;
    failures += 1;
  };
  const setUp = (wasFlushed = false): Observable<never> =>
    defer(() => {
      let made = 0;
      const count = (existed: boolean): void => void (made += existed ? 0 : 1);
      return firstFailure(ipTables, family, bits, count).pipe(
        tap((failure) => {
          if (failure !== undefined) return failed(failure);
          if (!isSetUp) log.info("Initialized iptables rules.");
          else if (made > 0 && !wasFlushed) log.info("Restored iptables rules that were gone", { count: made });
          [isSetUp, failures, looks, said] = [true, 0, 0, undefined];
          return undefined;
        }),
        ignoreElements(),
      );
    });
  const restored$ = defer(() => {
    log.debug("utilChains", "IPTables canary deleted", { table: CANARY_TABLES[0], chain: CANARY });
    return concat(
      flushEnded(keeper, () => log.warn("Inconsistent iptables state detected")),
      defer(() => {
        log.info("Reloading after iptables flush");
        return setUp(true);
      }),
    );
  });
  const look$ = defer(() => {
    looks += 1;
    const isDue = isReported || looks >= LOOKS_PER_SET_UP;
    isReported = false;
    return ipTables.hasChain(family, CANARY_TABLES[0], CANARY).pipe(
      tap(() => (said = undefined)),
      switchMap((isThere) => (isThere ? (isDue ? setUp() : EMPTY) : restored$)),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        const place = { table: CANARY_TABLES[0], chain: CANARY };
        if (error.message !== said) log.warn("Could not check for iptables canary", { error, ...place });
        said = error.message;
        return EMPTY;
      }),
    );
  });
  const reported$ = reports$.pipe(
    // A failed set-up keeps its backoff.
    filter(() => isSetUp),
    tap(() => (isReported = true)),
  );
  return reconcile({
    triggers$: merge(of(undefined), reported$, NEVER),
    run: () => (isSetUp ? look$ : setUp()),
    wakeAfterMs: () => (isSetUp ? LOOK_MS : backoffDelay(BACKOFF, failures, rng)),
    clock,
  });
}

/**
 * Makes every step hold, then the canaries; emits the first failure, after which no step runs, or undefined. `ensured`
 * is called with whether a step held before.
 */
function firstFailure(
  ipTables: IpTables,
  family: IpFamily,
  bits: MarkBits,
  ensured: (existed: boolean) => void,
): Observable<Failure | undefined> {
  const ensure = (step: ChainStep): Observable<boolean> =>
    "chain" in step
      ? ipTables.ensureChain(family, step.table, step.chain)
      : ipTables.ensureRule(family, step.table, step.rule);
  const canaries = CANARY_TABLES.map((table): ChainStep & { readonly fields: NonNullable<Failure["fields"]> } => ({
    ...{ table, chain: CANARY, fields: { table, chain: CANARY } },
    failure: "Could not set up iptables canary",
  }));
  const steps: readonly (ChainStep & Pick<Failure, "fields">)[] = [...utilChainSteps(family, bits), ...canaries];
  return inSequence(steps, (step) =>
    ensure(step).pipe(
      tap(ensured),
      ignoreElements(),
      catchError((thrown: unknown) =>
        of<Failure>({
          step: step.failure,
          error: toKubeletError(thrown),
          ...(step.fields === undefined ? {} : { fields: step.fields }),
        }),
      ),
    ),
  ).pipe(take(1), defaultIfEmpty(undefined));
}

/** Waits until the canaries of the other tables are gone, too, so that nothing is restored before its table is flushed. */
function flushEnded({ ipTables, family, clock }: Keeper, onRemains: () => void): Observable<never> {
  const [, ...others] = CANARY_TABLES;
  const look = (): Observable<boolean> =>
    inSequence(others, (table) => ipTables.hasChain(family, table, CANARY).pipe(orElse(() => of(true)))).pipe(
      toArray(),
      map((found) => !found.includes(true)),
    );
  const gone$ = pollAfter(clock, FLUSH_LOOK_MS, look).pipe(filter((areGone) => areGone));
  return merge(gone$, longTimer(clock, FLUSH_MS).pipe(map(() => false))).pipe(
    take(1),
    tap((areGone) => {
      if (!areGone) onRemains();
    }),
    ignoreElements(),
  );
}
