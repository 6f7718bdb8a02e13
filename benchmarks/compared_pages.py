def page(lines):
    pass
