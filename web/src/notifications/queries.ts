import { api, type Schemas, unwrap } from "@/api/client";
import { pagesQuery } from "@/api/pages";

export type Notification = Schemas["NotificationView"];

/** What was told outside, newest first. */
export const notificationsQuery = (state?: string) =>
  pagesQuery(["notifications", state ?? "all"], (cursor) =>
    unwrap(api.GET("/api/v1/notifications", { params: { query: { limit: 100, state, cursor } } })),
  );

/** What a notification tells. */
export const eventWords: Record<string, string> = {
  "approval.requested": "A call waits for a person",
  "approval.escalated": "A decision was passed on",
  "approval.decided": "A call was decided on",
  "input.requested": "A call waits for an answer",
  "call.in_doubt": "A call is in doubt",
  "channel.test": "A test",
};
