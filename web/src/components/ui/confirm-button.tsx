import { useState } from "react";

import { Button } from "./button";

/** What can't be undone: the first press asks, and says what would happen; the second does it. */
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
    <span className="inline-flex flex-wrap gap-2">
      <Button
        look="danger"
        size={size}
        disabled={disabled}
        onClick={(event) => {
          // The second press of a double click was meant for the first button.
          if (event.detail > 1) return;
          setAsked(false);
          onSure();
        }}
      >
        {sure}
      </Button>
      {/* Focus is here, so that a key held down decides nothing. */}
      <Button look="quiet" size={size} autoFocus onClick={() => setAsked(false)}>
        Keep
      </Button>
    </span>
  );
}
