import { describe, expect, it } from "vitest";
import { watchdogPeriodMs, type WatchdogVariables } from "../../../../src/core/systemd/watchdog.ts";

const PID = 4711;
const OFF = { ok: true, value: undefined };
const every = (ms: number) => ({ ok: true, value: ms });

describe("watchdogPeriodMs", () => {
  it.each<[string, WatchdogVariables, unknown]>([
    ["no variables: no watchdog", {}, OFF],
    ["an empty time: no watchdog", { WATCHDOG_USEC: "", WATCHDOG_PID: "4711" }, OFF],
    ["half of the time, for this process", { WATCHDOG_USEC: "30000000", WATCHDOG_PID: "4711" }, every(15_000)],
    ["half of the time, for any process", { WATCHDOG_USEC: "30000000" }, every(15_000)],
    ["another process is watched", { WATCHDOG_USEC: "30000000", WATCHDOG_PID: "1" }, OFF],
    ["an odd time is rounded down, to come in time", { WATCHDOG_USEC: "3001000" }, every(1_500)],
    ["two milliseconds", { WATCHDOG_USEC: "2000" }, every(1)],
    ["less than two milliseconds", { WATCHDOG_USEC: "1" }, every(1)],
    ["the largest time that systemd knows", { WATCHDOG_USEC: "999999999999999999" }, every(500_000_000_000_000)],
  ])("%s", (_, variables, expected) => {
    expect(watchdogPeriodMs(variables, PID)).toEqual(expected);
  });

  it.each<[WatchdogVariables, string]>([
    [{ WATCHDOG_USEC: "0" }, 'WATCHDOG_USEC "0" is not a positive number'],
    [{ WATCHDOG_USEC: "-5" }, 'WATCHDOG_USEC "-5" is not a positive number'],
    [{ WATCHDOG_USEC: "30s" }, 'WATCHDOG_USEC "30s" is not a positive number'],
    [{ WATCHDOG_USEC: "1.5" }, 'WATCHDOG_USEC "1.5" is not a positive number'],
    [{ WATCHDOG_USEC: " 1" }, 'WATCHDOG_USEC " 1" is not a positive number'],
    [{ WATCHDOG_USEC: "1000000000000000000" }, 'WATCHDOG_USEC "1000000000000000000" is not a positive number'],
    [{ WATCHDOG_USEC: "1000", WATCHDOG_PID: "self" }, 'WATCHDOG_PID "self" is not a process id'],
  ])("rejects %j", (variables, why) => {
    expect(watchdogPeriodMs(variables, PID)).toMatchObject({
      ok: false,
      error: { code: "InvalidArgument", message: `cannot use the systemd watchdog: ${why}` },
    });
  });
});
