/**
 * When each image of the runtime was detected and last used, as memory and as a file that survives restarts. Upstream
 * keeps them in memory only.
 */
import { type EpochMs, epochMs } from "../ids.ts";
import { isJsonObject, parseJson } from "../json.ts";

export interface ImageRecord {
  readonly detectedAt: EpochMs;
  /** Undefined: not used since it was detected. */
  readonly usedAt: EpochMs | undefined;
  /** The image was there before the first record, so its age is unknown and counts as high. */
  readonly wasThere: boolean;
}

/** Records by image ID. */
export type ImageRecords = ReadonlyMap<string, ImageRecord>;

/**
 * Returns the records after the runtime listed its images at `now`; images that are gone are forgotten. A time in the
 * future comes from a clock that was set back since, and becomes `now`: otherwise the image would count as young for
 * as long as the clock was set back.
 */
export function detectImages<T extends { readonly id: string }>(
  known: ImageRecords | undefined,
  images: readonly T[],
  isUsed: (image: T) => boolean,
  now: EpochMs,
): ImageRecords {
  const notAfterNow = (at: EpochMs): EpochMs => (at <= now ? at : now);
  const recordOf = (image: T): ImageRecord => {
    const record = known?.get(image.id) ?? { detectedAt: now, usedAt: undefined, wasThere: known === undefined };
    const usedAt = isUsed(image) ? now : record.usedAt;
    return {
      detectedAt: notAfterNow(record.detectedAt),
      usedAt: usedAt === undefined ? undefined : notAfterNow(usedAt),
      wasThere: record.wasThere,
    };
  };
  return new Map(images.map((image) => [image.id, recordOf(image)]));
}

/** Returns the content of the file. */
export const encodeImageRecords = (records: ImageRecords): string =>
  JSON.stringify({ images: Object.fromEntries(records) });

/** Reads the content of the file; undefined when it is damaged. */
export function decodeImageRecords(text: string): ImageRecords | undefined {
  const parsed = parseJson(text);
  if (!isJsonObject(parsed) || !isJsonObject(parsed["images"])) return undefined;
  const records = new Map<string, ImageRecord>();
  for (const [id, value] of Object.entries(parsed["images"])) {
    const record = recordFrom(value);
    if (record === undefined) return undefined;
    records.set(id, record);
  }
  return records;
}

function recordFrom(value: unknown): ImageRecord | undefined {
  if (!isJsonObject(value)) return undefined;
  const { detectedAt, usedAt, wasThere } = value;
  if (typeof detectedAt !== "number" || typeof wasThere !== "boolean") return undefined;
  if (usedAt !== undefined && typeof usedAt !== "number") return undefined;
  return {
    detectedAt: epochMs(detectedAt),
    usedAt: usedAt === undefined ? undefined : epochMs(usedAt),
    wasThere,
  };
}
