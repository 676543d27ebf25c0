/** Kills the containers of a killed runtime when no new runtime will take them over. */
import fs from "node:fs";
import path from "node:path";
import { killStray } from "./containerProcess.ts";
import { killLeftExecs } from "./execProcess.ts";

/** Kills the running containers of this state directory. No runtime may be using it. */
export async function killLeftContainers(stateDir: string): Promise<void> {
  const containers = path.join(path.resolve(stateDir), "containers");
  if (!fs.existsSync(containers)) return;
  for (const name of fs.readdirSync(containers)) {
    const dir = path.join(containers, name);
    await killLeftExecs(dir);
    await killStray(dir, dir);
  }
}
