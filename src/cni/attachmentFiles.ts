/**
 * Attachments on disk: `results/NETWORK-SANDBOX-INTERFACE` below the cache directory. Files are replaced by rename and
 * synced, because a kill or a power failure in between would lose the way to release an address.
 * Bounds: MAX_ENTRIES of the directory, MAX_BYTES of a file.
 */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import {
  type Attachment,
  attachmentFile,
  type AttachmentKey,
  formatAttachment,
  mayBelongTo,
  parseAttachment,
} from "../core/cni/attachment.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { err, ok, type Result } from "../core/result.ts";
import { namesIn } from "../fileSystem/listDirectory.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";
import { readWhole } from "../fileSystem/regularFile.ts";

/** A configuration of 1 MiB as base64 text, and a result of 1 MiB. */
const MAX_BYTES = 4 * 1024 * 1024;
const TEMPORARY = ".tmp";

/** A file of the directory; `attachment` is absent if its content is none. */
export interface AttachmentFile {
  readonly name: string;
  readonly attachment?: Attachment;
}

/** Access to the directory. Its only writer in this process. */
export interface AttachmentFiles {
  /** Writes an attachment. Errors: those of the file system. */
  write(attachment: Attachment): Promise<Result<void>>;
  remove(key: AttachmentKey): Promise<void>;
  /** Removes a file by its name; succeeds where it is gone. */
  removeFile(name: string): Promise<void>;
  /** Removes files that an earlier process began to write. Call before the first write. */
  removeUnfinished(): Promise<void>;
  /** Returns the files of one sandbox, or of all; none where the directory is missing. */
  list(id?: string): Promise<Result<readonly AttachmentFile[]>>;
}

/** Opens the directory below `cacheDir`; the first write creates it with mode 0700. */
export function openAttachmentFiles(cacheDir: string): AttachmentFiles {
  const directory = join(cacheDir, "results");
  const removeFile = async (name: string): Promise<void> => {
    await fs.unlink(join(directory, name)).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== "ENOENT") throw ioError("remove", join(directory, name), thrown);
    });
  };
  return {
    write: async (attachment) => {
      const path = join(directory, attachmentFile(attachment));
      try {
        await makeDirectories(directory, 0o700);
        await replace(path, formatAttachment(attachment));
        return ok(undefined);
      } catch (thrown) {
        return err(ioError("write", path, thrown));
      }
    },
    remove: (key) => removeFile(attachmentFile(key)),
    removeFile,
    removeUnfinished: async () => {
      const names = await namesIn(directory).catch(() => []);
      for (const name of names.filter((each) => each.endsWith(TEMPORARY))) await removeFile(name);
    },
    list: async (id) => {
      try {
        const names = (await namesIn(directory)).filter((name) => id === undefined || mayBelongTo(name, id));
        const files: AttachmentFile[] = [];
        for (const name of names.toSorted()) files.push(await read(directory, name));
        return ok(files.filter(({ attachment }) => id === undefined || (attachment?.id ?? id) === id));
      } catch (thrown) {
        return errnoOf(thrown) === "ENOENT" ? ok([]) : err(ioError("list", directory, thrown));
      }
    },
  };
}

async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}${TEMPORARY}`;
  {
    await using file = await fs.open(temporary, "w", 0o600);
    await file.writeFile(text);
    await file.sync();
  }
  await fs.rename(temporary, path);
}

async function read(directory: string, name: string): Promise<AttachmentFile> {
  const text = await readWhole(join(directory, name), MAX_BYTES).catch(() => undefined);
  const parsed = text === undefined ? undefined : parseAttachment(text.toString("utf8"));
  return { name, ...(parsed?.ok === true ? { attachment: parsed.value } : {}) };
}
