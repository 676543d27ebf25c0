/** Portals that do not answer: each call of theirs ends at the deadline of iscsiadm, and no volume at another portal waits. */
import { concat, delay, ignoreElements, of, throwError, VirtualTimeScheduler } from "rxjs";
import { expect, it } from "vitest";
import type { IscsiTarget } from "../../../../src/core/disk/iscsiDisk.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { createKeyedTurns } from "../../../../src/operators/keyedTurns.ts";
import { attachIscsi } from "../../../../src/pipelines/volumes/iscsiDisks.ts";
import type { IscsiContext } from "../../../../src/pipelines/volumes/iscsiLogin.ts";
import { fakeIscsi } from "../../../support/fakeIscsi.ts";
import { virtualClock } from "../../../support/marbles.ts";

const IQN = "iqn.2003-01.org.example:a";
const [HANGS, ANSWERS] = ["10.0.0.1:3260", "10.0.0.2:3260"];
const DEADLINE_MS = 180_000;

/** Attaches a disk at each of the portals at once; returns when each attempt has ended, and how. */
function attachedAt(portals: readonly (readonly string[])[], hasMercy = false) {
  const fake = fakeIscsi({ iqn: IQN, portals: { [HANGS]: "/dev/sdb", [ANSWERS]: "/dev/sdc" } });
  const scheduler = new VirtualTimeScheduler();
  let hung = 0;
  const hanging: IscsiContext["port"]["admin"] = (call) => {
    const line = call.args.join(" ");
    if (!line.includes(`-p ${HANGS} `) || !line.endsWith("--discover") || (hasMercy && hung > 0)) {
      return fake.port.admin(call);
    }
    hung += 1;
    const late = kubeletError("DeadlineExceeded", "run iscsiadm: not done within 180000 ms");
    return concat(
      of(0).pipe(delay(DEADLINE_MS, scheduler), ignoreElements()),
      throwError(() => late),
    );
  };
  const context: IscsiContext = {
    ...{ port: { ...fake.port, admin: hanging }, clock: virtualClock(scheduler), api: undefined },
    ...{ turns: createKeyedTurns(), leaving: new Set<string>() },
  };
  const ends: (readonly [number, string])[] = [];
  portals.forEach((at, index) => {
    const target: IscsiTarget = {
      ...{ volume: `v${index}`, portals: at, iqn: IQN, lun: 0 },
      ...{ iface: "default", initIface: "default", initiatorName: "", chap: undefined },
    };
    const end = (how: string) => (ends[index] = [scheduler.now(), how]);
    attachIscsi(fake.disks, context, target, new Map()).subscribe({
      next: end,
      error: (thrown) => end((thrown as { code: string }).code),
    });
  });
  scheduler.flush();
  return { ends, turns: context.turns.size };
}

it("a portal that hangs holds up no volume at another portal of the target", () => {
  const { ends, turns } = attachedAt([[HANGS], [ANSWERS]]);
  expect([ends, turns]).toEqual([
    [
      [DEADLINE_MS, "DeadlineExceeded"],
      [0, "/dev/sdc"],
    ],
    0,
  ]);
});

it("a volume at the same portal takes its turn after the deadline, and succeeds when the portal answers again", () => {
  const { ends } = attachedAt([[HANGS], [HANGS]], true);
  expect(ends).toEqual([
    [DEADLINE_MS, "DeadlineExceeded"],
    [DEADLINE_MS, "/dev/sdb"],
  ]);
});

it("a disk with a second portal is attached by it, after the deadline of each of five rounds", () => {
  const MULTIPATH_MS = 10_000;
  expect(attachedAt([[HANGS, ANSWERS]]).ends).toEqual([[5 * DEADLINE_MS + MULTIPATH_MS, "/dev/sdc"]]);
});
