/**
 * `/debug/pprof/`: profiles of this process for Chrome's developer tools. `profile` and `heap` record for `?seconds`.
 * Bounds: one profile at a time, one minute each.
 * Differs from upstream: V8 profiles instead of Go profiles.
 */
import type { Session } from "node:inspector/promises";
import type { Context, Hono } from "hono";
import { firstValueFrom } from "rxjs";
import { longTimer } from "../operators/longTimer.ts";
import type { Clock } from "../ports/clock.ts";
import { allowLongAnswer } from "./longAnswer.ts";
import { onlyMethods, serviceRoute } from "./onlyMethods.ts";

const MAX_SECONDS = 60;
const PROFILES = {
  profile: { seconds: 30, file: "profile.cpuprofile", about: "CPU: functions by the time spent in them" },
  heap: { seconds: 5, file: "heap.heapprofile", about: "memory in use by the functions that allocated it" },
} as const;
type ProfileName = keyof typeof PROFILES;

/** Adds the index, the profiles and the command line. */
export function addProfileRoutes(app: Hono, clock: Clock): void {
  let isBusy = false;
  serviceRoute(app, ["GET"], "/debug/pprof", (context) => context.text(index()));
  serviceRoute(app, ["GET"], "/debug/pprof/cmdline", (context) => context.text(process.argv.join("\0")));
  for (const name of Object.keys(PROFILES) as ProfileName[]) {
    serviceRoute(app, ["GET"], `/debug/pprof/${name}`, async (context) => {
      const seconds = secondsOf(context, name);
      if (seconds === undefined) {
        return context.text(`seconds must be a number from 1 to ${MAX_SECONDS}\n`, 400);
      }
      if (isBusy) return context.text("Could not enable profiling: profiling already in use\n", 500);
      isBusy = true;
      allowLongAnswer(context);
      try {
        const file = PROFILES[name].file;
        return context.body(await takeProfile(name, seconds, clock), 200, {
          "content-type": "application/octet-stream",
          "content-disposition": `attachment; filename="${file}"`,
        });
      } finally {
        isBusy = false;
      }
    });
  }
  onlyMethods(app, ["GET"], "/debug/pprof/*", (context) => context.text("Unknown profile\n", 404));
}

const index = (): string =>
  [
    "/debug/pprof/",
    ...Object.entries(PROFILES).map(([name, { about, seconds }]) => `${name}?seconds=${seconds}  ${about}`),
    "cmdline  the command line of this process",
    "",
  ].join("\n");

function secondsOf(context: Context, name: ProfileName): number | undefined {
  const seconds = Number(context.req.query("seconds") ?? PROFILES[name].seconds);
  return seconds >= 1 && seconds <= MAX_SECONDS ? seconds : undefined;
}

async function takeProfile(name: ProfileName, seconds: number, clock: Clock): Promise<string> {
  const { Session: InspectorSession } = await import("node:inspector/promises");
  const session: Session = new InspectorSession();
  session.connect();
  const watched = () => firstValueFrom(longTimer(clock, seconds * 1000));
  try {
    if (name === "heap") {
      await session.post("HeapProfiler.startSampling");
      await watched();
      return JSON.stringify((await session.post("HeapProfiler.stopSampling")).profile);
    }
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await watched();
    return JSON.stringify((await session.post("Profiler.stop")).profile);
  } finally {
    session.disconnect();
  }
}
