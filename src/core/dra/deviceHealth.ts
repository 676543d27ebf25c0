/**
 * Health of the devices of drivers. A report is valid for the time that the driver names, by default 30 s; after that the
 * health is unknown. A report is untrusted and bounded. Upstream: healthInfoCache.
 */
import type { NodeWatchResourcesResponse } from "../../gen/dra.ts";
import { HealthStatus } from "../../gen/dra.ts";
import { type MonotonicMs, monotonicMs } from "../ids.ts";
import { MAX_NAME_LENGTH } from "./driverCalls.ts";

export type Health = "Healthy" | "Unhealthy" | "Unknown";

/** Health of a device. */
export interface DeviceHealth {
  readonly health: Health;
  /** Empty: none. */
  readonly message: string;
  /** The health is unknown from this time on. */
  readonly validUntil: MonotonicMs;
}

/** Health by `deviceKey` of the devices of one driver. */
export type DriverHealth = ReadonlyMap<string, DeviceHealth>;

/** Health by driver. */
export type DeviceHealths = ReadonlyMap<string, DriverHealth>;

/** Most devices of a driver whose health is kept. */
export const MAX_HEALTHS = 10_000;
/** Longest message, as in the API. */
const MAX_MESSAGE = 1_024;
const DEFAULT_VALID_MS = 30_000;
/** A device without news for longer than this is unknown, whatever its driver says. */
const MAX_VALID_MS = 24 * 3_600_000;

const HEALTHS: ReadonlyMap<number, Health> = new Map([
  [HealthStatus.HEALTHY, "Healthy"],
  [HealthStatus.UNHEALTHY, "Unhealthy"],
]);

/** Key of a device. */
export const deviceKey = ({ poolName, deviceName }: { readonly poolName: string; readonly deviceName: string }) =>
  `${poolName}/${deviceName}`;

const shortened = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 3)}...`;

/** Returns the health of the devices after a report; devices that it lacks keep their health as long as it is valid. */
export function withReport(
  known: DriverHealth,
  { devices }: NodeWatchResourcesResponse,
  now: MonotonicMs,
): DriverHealth {
  const next = new Map(known);
  for (const { device, health, healthCheckTimeoutSeconds: seconds, message } of devices.slice(0, MAX_HEALTHS)) {
    if (device === undefined) continue;
    const key = deviceKey(device);
    if (key.length > MAX_NAME_LENGTH || (next.size >= MAX_HEALTHS && !next.has(key))) continue;
    const validMs = seconds > 0n ? Math.min(Number(seconds) * 1_000, MAX_VALID_MS) : DEFAULT_VALID_MS;
    next.set(key, {
      health: HEALTHS.get(health) ?? "Unknown",
      message: shortened(message),
      validUntil: monotonicMs(now + validMs),
    });
  }
  return next;
}

/** Returns the health without what is no longer valid. */
export const stillValid = (known: DriverHealth, now: MonotonicMs): DriverHealth =>
  new Map([...known].filter(([, { validUntil }]) => validUntil > now));

/** Returns when the first health becomes invalid; undefined if there is none. */
export function firstInvalidAt(known: DriverHealth): MonotonicMs | undefined {
  let first: MonotonicMs | undefined;
  for (const { validUntil } of known.values()) if (first === undefined || validUntil < first) first = validUntil;
  return first;
}

/** Returns whether both say the same of each device. */
export function saysSame(a: DriverHealth, b: DriverHealth): boolean {
  if (a.size !== b.size) return false;
  for (const [key, { health, message }] of a) {
    const other = b.get(key);
    if (other?.health !== health || other.message !== message) return false;
  }
  return true;
}
