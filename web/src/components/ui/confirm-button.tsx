import { useState } from "react";

import { Button } from "./button";

/** What can't be undone: the first press says what would happen, the second does it. */
export function ConfirmButton({ title, sure, disabled, onSure, size }: {
  /** `Remove…` */
  title: string;
  /** `Yes, remove it` */
  sure: string;
  disabled?: boolean;
  onSure: () => void;
  size?: "md" | "sm";
}) {
  const [asked, setAsked] = useState(false);
  if (!asked) {
    return (
      <Button look="danger" size={size} disabled={disabled} onClick={() => setAsked(true)}>
        {title}
      </Button>
    );
  }
  return (
    <span className="flex flex-wrap gap-2">
      <Button
        look="danger"
        size={size}
        disabled={disabled}
        autoFocus
        onClick={() => {
          setAsked(false);
          onSure();
        }}
      >
        {sure}
      </Button>
      <Button look="quiet" size={size} onClick={() => setAsked(false)}>
        Keep
      </Button>
    </span>
  );
}
