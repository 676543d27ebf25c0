/** `rxlet template FILE`: prints the pods that the workloads of a manifest describe, as YAML. */
import { open } from "node:fs/promises";
import { from, ignoreElements, map, type Observable, tap } from "rxjs";
import { stringify } from "yaml";
import type { TemplateOptions } from "../cli/subCommands.ts";
import { kubeletError } from "../core/errors.ts";
import { pathFault } from "../core/ioError.ts";
import { podsOfTemplates } from "../core/pod/manifest/podsOfTemplates.ts";
import { MAX_MANIFEST_BYTES } from "../sources/manifestDirectory.ts";
import { parseManifest } from "../sources/parseManifest.ts";

interface Output {
  write(text: string): unknown;
}

/** Name of standard input in messages. */
const STDIN = { path: "/dev/stdin", name: "standard input" };

/**
 * Prints the pods to `out` and notes about omitted objects to `notes`, then completes. Errors: the file is unusable.
 */
export function template({ file }: TemplateOptions, out: Output, notes: Output): Observable<never> {
  const { path, name } = file === "-" ? STDIN : { path: file, name: file };
  return from(read(path, name)).pipe(
    map((bytes) => podsOfTemplates(parseManifest(bytes), name)),
    tap((found) => {
      if (found.errors.length > 0) throw kubeletError("InvalidArgument", found.errors.join("\n"));
      for (const note of found.notes) notes.write(`rxlet: ${note}\n`);
      // Manifests are read as YAML 1.1, in which a plain `yes` is a boolean.
      out.write(found.objects.map((object) => stringify(object, { version: "1.1" })).join("---\n"));
    }),
    ignoreElements(),
  );
}

async function read(path: string, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    await using file = await open(path, "r");
    for await (const chunk of file.createReadStream()) {
      chunks.push(chunk as Uint8Array);
      length += (chunk as Uint8Array).length;
      if (length > MAX_MANIFEST_BYTES) break;
    }
  } catch (thrown) {
    throw kubeletError("Io", `${name}: ${pathFault(thrown)}`, { cause: thrown });
  }
  if (length > MAX_MANIFEST_BYTES) throw kubeletError("ResourceExhausted", `${name}: is larger than 1 MiB`);
  return Buffer.concat(chunks, length);
}
