/** Profiles of seccomp in files. Bound: 1 MiB. */
import path from "node:path";
import { SecurityProfile_ProfileType as ProfileType } from "../gen/cri.ts";
import type { SecurityProfile } from "../gen/cri.ts";
import { parseJson } from "../core/json.ts";
import { readWhole } from "../fileSystem/regularFile.ts";
import { invalidArgument, messageOf } from "../grpcServer/rpcFault.ts";

const MAX_PROFILE_BYTES = 1024 * 1024;

/** Returns the JSON of a profile in a file; undefined for the others. Throws INVALID_ARGUMENT where it is none. */
export async function seccompText(profile: SecurityProfile | undefined): Promise<string | undefined> {
  if (profile?.profileType !== ProfileType.Localhost) return undefined;
  const file = profile.localhostRef.replace(/^localhost\//, "");
  if (!path.isAbsolute(file)) throw invalidArgument("seccomp.localhost_ref", `"${file}" is no absolute path`);
  const text = await readWhole(file, MAX_PROFILE_BYTES, { links: "followed" }).catch((thrown: unknown) => {
    throw invalidArgument("seccomp.localhost_ref", `cannot load ${file}: ${messageOf(thrown)}`);
  });
  const value = parseJson(text.toString());
  if (value === undefined) throw invalidArgument("seccomp.localhost_ref", `${file} is no JSON`);
  return JSON.stringify(value);
}
