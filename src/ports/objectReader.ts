/** The reading half of an API server: what a server that writes nothing needs. */
import type { ApiServer } from "./apiServer.ts";

/** Objects at versions, with their watches. */
export type ObjectReader = Pick<ApiServer, "get" | "list" | "watch">;
