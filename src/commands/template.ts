/** `rxlet template FILE`: prints the pods that the workloads of a manifest describe, as YAML. */
import { from, ignoreElements, map, type Observable, tap } from "rxjs";
import { stringify } from "yaml";
import type { TemplateOptions } from "../cli/subCommands.ts";
import { kubeletError } from "../core/errors.ts";
import { podsOfTemplates } from "../core/pod/manifest/podsOfTemplates.ts";
import { parseManifest } from "../sources/parseManifest.ts";
import { readManifestFile } from "./manifestFiles.ts";

interface Output {
  write(text: string): unknown;
}

/**
 * Prints the pods to `out` and notes about omitted objects to `notes`, then completes. Errors: the file is unusable.
 */
export function template({ file }: TemplateOptions, out: Output, notes: Output): Observable<never> {
  return from(readManifestFile(file)).pipe(
    map(({ bytes, name }) => podsOfTemplates(parseManifest(bytes), name)),
    tap((found) => {
      if (found.errors.length > 0) throw kubeletError("InvalidArgument", found.errors.join("\n"));
      for (const note of found.notes) notes.write(`rxlet: ${note}\n`);
      // Manifests are read as YAML 1.1, in which a plain `yes` is a boolean.
      out.write(found.objects.map((object) => stringify(object, { version: "1.1" })).join("---\n"));
    }),
    ignoreElements(),
  );
}
