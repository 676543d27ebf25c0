/** What is special about a resource when it is written; pure functions of the objects involved. */
import type { FieldProblem } from "../../core/pod/fieldProblem.ts";
import type { ApiUpdateOptions } from "../../ports/apiServer.ts";
import type { ApiIdentity } from "./identity.ts";
import type { ApiObject, StoredObject } from "../../core/apiObjects/storedObject.ts";

/** The part of an object an update is for; undefined for the object itself. */
export type Subresource = ApiUpdateOptions["subresource"];

/** How objects of one resource are made and changed. */
export interface Strategy {
  /** Whether an update may leave out the version it is made from. */
  readonly unconditionalUpdate: boolean;
  /** Whether an update of what is not there creates it. */
  readonly createOnUpdate: boolean;
  readonly subresources: readonly NonNullable<Subresource>[];
  prepareCreate(object: ApiObject, identity: ApiIdentity): ApiObject;
  prepareUpdate(object: ApiObject, old: StoredObject, subresource: Subresource): ApiObject;
  validateCreate(object: ApiObject): readonly FieldProblem[];
  validateUpdate(object: ApiObject, old: StoredObject, subresource: Subresource): readonly FieldProblem[];
}
