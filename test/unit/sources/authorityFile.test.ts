import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { authoritiesIn } from "../../../src/core/cert/pemFile.ts";
import { createHeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";
import { authorityFile } from "../../../src/sources/authorityFile.ts";
import { createTestAuthority } from "../../support/apiServer/certificates.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const directory = temporaryDirectory();

it("tells what to trust when it changed, and keeps it while the file is empty", async () => {
  const [first, second] = [(await createTestAuthority()).certificate, (await createTestAuthority()).certificate];
  const file = join(directory(), "ca.crt");
  const scheduler = createHeapScheduler();
  const reported: string[] = [];
  const problems: string[] = [];
  await writeFile(file, `# ours\n${first}`);
  const subscription = authorityFile(file, createSimClock(scheduler), ({ message }) =>
    problems.push(message),
  ).subscribe((authority) => reported.push(authority));
  const looked = (what: string, isSeen: () => boolean) =>
    waitFor(what, () => {
      scheduler.runNext();
      return isSeen();
    });
  await looked("the first one", () => reported.length === 1);
  await writeFile(file, "");
  await looked("the empty file", () => problems.length > 0);
  await writeFile(file, `${first}\n${second}`);
  await looked("both", () => reported.length === 2);
  subscription.unsubscribe();
  expect([reported.map(authoritiesIn), problems[0]]).toEqual([
    [authoritiesIn(first), authoritiesIn(`${first}\n${second}`)],
    `${file}: there is no certificate in it`,
  ]);
});
