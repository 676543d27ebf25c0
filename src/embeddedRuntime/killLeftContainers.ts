/** Ends the containers of a runtime that was killed, where no next runtime will take them over. */
import fs from "node:fs";
import path from "node:path";
import { killStray } from "./containerProcess.ts";
import { killLeftExecs } from "./execProcess.ts";

/** Kills what still runs of the containers in this state directory. No runtime may be using it. */
export async function killLeftContainers(stateDir: string): Promise<void> {
  const containers = path.join(path.resolve(stateDir), "containers");
  if (!fs.existsSync(containers)) return;
  for (const name of fs.readdirSync(containers)) {
    const dir = path.join(containers, name);
    await killLeftExecs(dir);
    await killStray(dir, dir);
  }
}
