/** `/debug/rxlet/resources`: JSON, or text with `?format=text`, for a terminal of `?columns`. Not in upstream. */
import type { Hono } from "hono";
import { DEFAULT_COLUMNS, hardwareText } from "../core/hardwareView/hardwareText.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { onlyReads } from "./onlyMethods.ts";
import { textOrJson } from "./textOrJson.ts";

const [LEAST_COLUMNS, MOST_COLUMNS] = [40, 200];

/** Adds the map of the hardware and its owners. A 400 names the supported formats. */
export function addResourcesRoute(app: Hono, queries: Pick<KubeletQueries, "hardware">): void {
  onlyReads(app, "/debug/rxlet/resources", (context) => {
    const columns = columnsOf(context.req.query("columns"));
    return textOrJson(
      context,
      (view) => hardwareText(view, columns),
      () => queries.hardware(),
    );
  });
}

const columnsOf = (text: string | undefined): number => {
  const columns = text !== undefined && /^\d{1,4}$/.test(text) ? Number(text) : DEFAULT_COLUMNS;
  return Math.min(MOST_COLUMNS, Math.max(LEAST_COLUMNS, columns));
};
