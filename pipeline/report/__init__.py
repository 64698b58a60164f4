"""`homelake report`: what a lake tells, as one HTML page that needs nothing but itself.

`facts` asks the lake (`sql/report/`), `sections` says what becomes of each answer, `tables` and `charts` draw it,
`page` puts it into the template, `command` is the command.
"""
