/** The read-only part of an API server, for callers that never write. */
import type { ApiServer } from "./apiServer.ts";

/** Get, list and watch. */
export type ObjectReader = Pick<ApiServer, "get" | "list" | "watch">;
