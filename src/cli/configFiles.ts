/** Reads the files of `--config` and `--config-dir`. */
import type { DocumentRole } from "../core/config/decodeConfiguration.ts";
import { type ConfigDocument, readConfigDocument } from "./configDocument.ts";
import { type ConfigReaders, directoryReader } from "./configReaders.ts";
import type { KubeletFlags } from "./kubeletFlags.ts";

/** Configuration files found on disk. */
export interface ConfigFiles {
  readonly base: ConfigDocument | undefined;
  /** Listed in the order in which they apply. */
  readonly dropIns: readonly ConfigDocument[];
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

const DROP_IN_SUFFIX = ".conf";

type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

async function attempt<T>(run: () => Promise<T>): Promise<Read<T>> {
  try {
    return { ok: true, value: await run() };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Reads all files; each unreadable one becomes an error line. */
export async function readConfigFiles(
  flags: Pick<KubeletFlags, "config" | "configDir">,
  readers: ConfigReaders,
): Promise<ConfigFiles> {
  const errors: string[] = [];
  const warnings: string[] = [];
  const read = async (
    file: string,
    role: DocumentRole,
    readText: ConfigReaders["readText"],
  ): Promise<ConfigDocument | undefined> => {
    const text = await attempt(() => readText(file));
    if (text.ok) return readConfigDocument(file, text.value, role);
    errors.push(`${file}: cannot be read: ${text.reason}`);
    return undefined;
  };
  const base = flags.config === "" ? undefined : await read(flags.config, "whole", readers.readText);
  const dropIns: ConfigDocument[] = [];
  if (flags.configDir !== "") {
    const readDropIn = directoryReader(readers);
    const listed = await attempt(() => readers.listFiles(flags.configDir));
    if (!listed.ok) errors.push(`--config-dir: ${flags.configDir} cannot be listed: ${listed.reason}`);
    for (const file of listed.ok ? listed.value : []) {
      if (!file.endsWith(DROP_IN_SUFFIX)) {
        warnings.push(`${file} is ignored: drop-ins end in ${DROP_IN_SUFFIX}`);
        continue;
      }
      const document = await read(file, "patch", readDropIn);
      if (document !== undefined) dropIns.push(document);
    }
  }
  return { base, dropIns, errors, warnings };
}
