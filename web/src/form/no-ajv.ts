/** Stands where the form library expects a validator that this page may not use. */
export default {};
